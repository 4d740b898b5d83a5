//! What is chosen from: options with named features, stored as one sparse matrix.

use std::collections::HashMap;
use std::sync::Arc;

/// A feature's value is at most this far from zero; a larger one is no measurement of code.
pub const LARGEST_VALUE: f64 = 1e6;

/// The options of one choice, in their order. Each has the features that were given for it, in the order
/// in which they were given: sums run in that order on every machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The distinct features, by column, in the order in which they were first met.
    names: Vec<Arc<str>>,
    /// Where each option's entries end.
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    refused: usize,
}

impl Options {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The distinct features of all options.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// Values that were left out since they were no finite number or lay beyond [`LARGEST_VALUE`].
    pub fn refused(&self) -> usize {
        self.refused
    }

    /// An option's features, by column; empty for one that is not there.
    pub fn features(&self, option: usize) -> impl Iterator<Item = (usize, f64)> {
        let (start, end) = self.span(option);
        let columns = self.columns[start..end].iter().map(|column| *column as usize);
        columns.zip(self.values[start..end].iter().copied())
    }

    /// An option's features by name.
    pub fn named(&self, option: usize) -> impl Iterator<Item = (&str, f64)> {
        self.features(option).map(|(column, value)| (&*self.names[column], value))
    }

    fn span(&self, option: usize) -> (usize, usize) {
        let Some(end) = self.ends.get(option).copied() else { return (0, 0) };
        (option.checked_sub(1).map_or(0, |before| self.ends[before]), end)
    }
}

/// Puts options together, one after another.
#[derive(Debug, Default)]
pub struct OptionsBuilder {
    options: Options,
    /// Looked up only, never iterated.
    known: HashMap<Arc<str>, u32>,
    name: String,
}

impl OptionsBuilder {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the next option, which has no features yet.
    pub fn option(&mut self) {
        self.options.ends.push(self.options.columns.len());
    }

    /// Gives the current option a feature, named by its parts put together. Given twice, it counts twice.
    /// A value that is not finite or too large is left out and counted: one bad measurement must not take
    /// the whole choice away. Before the first option there is nothing to give a feature to.
    pub fn feature(&mut self, parts: &[&str], value: f64) {
        if self.options.ends.is_empty() {
            return;
        }
        if value.is_nan() || value.abs() > LARGEST_VALUE {
            self.options.refused += 1;
            return;
        }
        self.name.clear();
        self.name.extend(parts.iter().copied());
        let column = match self.known.get(&*self.name) {
            Some(column) => *column,
            None => self.add_name(),
        };
        self.options.columns.push(column);
        self.options.values.push(value);
        if let Some(end) = self.options.ends.last_mut() {
            *end = self.options.columns.len();
        }
    }

    /// A feature that is there or not.
    pub fn flag(&mut self, parts: &[&str]) {
        self.feature(parts, 1.0);
    }

    fn add_name(&mut self) -> u32 {
        let name: Arc<str> = self.name.as_str().into();
        // More distinct names than that do not fit into memory.
        let column = u32::try_from(self.options.names.len()).unwrap_or(u32::MAX);
        self.options.names.push(Arc::clone(&name));
        self.known.insert(name, column);
        column
    }

    #[must_use]
    pub fn finish(self) -> Options {
        self.options
    }
}
