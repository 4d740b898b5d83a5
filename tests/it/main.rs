//! Tests of the real thing: real repositories, real processes.

mod support;
mod workspace;
