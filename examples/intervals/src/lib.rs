//! Sets of whole numbers, kept as sorted, disjoint, half-open intervals.

pub mod interval;
pub mod parse;
pub mod set;
pub mod sweep;

pub use interval::Interval;
pub use set::IntervalSet;
