//! The policy against finite differences, exhaustive sums and damaged files.

mod checkpoints;
mod drawing;
mod scenes;
mod weighing;

use super::*;

/// One option for each list of named values.
pub(super) fn options(all: &[&[(&str, f64)]]) -> Options {
    let mut builder = OptionsBuilder::new();
    for features in all {
        builder.option();
        for (name, value) in *features {
            builder.feature(&[name], *value);
        }
    }
    builder.finish()
}

#[track_caller]
pub(super) fn near(found: f64, expect: f64, tolerance: f64) {
    let far = (found - expect).abs();
    assert!(far <= tolerance * expect.abs().max(1.0), "{found} is not {expect}");
}
