//! What is chosen from: options with named features, stored as one sparse matrix.

use std::collections::HashMap;
use std::sync::Arc;

/// A feature's value is at most this far from zero; a larger one is no measurement of code.
pub const LARGEST_VALUE: f64 = 1e6;

/// The options of one choice, in their order. Each has the features that were given for it: those with a
/// value first, then the flags, each in the order in which they were given. Sums run in that order on every
/// machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The distinct features, by column, in the order in which they were first met.
    names: Vec<Arc<str>>,
    values: Rows<(u32, f64)>,
    /// Most features are there or not, and stored as their column alone: a large repository has tens of
    /// thousands of options with some fifty features each.
    flags: Rows<u32>,
    refused: usize,
}

/// A list of lists, in one.
#[derive(Clone, Debug, PartialEq)]
struct Rows<T> {
    /// Where each ends.
    ends: Vec<usize>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { ends: Vec::new(), items: Vec::new() }
    }
}

impl<T> Rows<T> {
    fn begin(&mut self) {
        self.ends.push(self.items.len());
    }

    /// To the last list.
    fn push(&mut self, item: T) {
        if let Some(end) = self.ends.last_mut() {
            self.items.push(item);
            *end = self.items.len();
        }
    }

    fn of(&self, row: usize) -> &[T] {
        let Some(end) = self.ends.get(row) else { return &[] };
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..*end]
    }
}

impl Options {
    pub fn len(&self) -> usize {
        self.flags.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distinct features of all options.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// Values that were left out since they were no finite number or lay beyond [`LARGEST_VALUE`].
    pub fn refused(&self) -> usize {
        self.refused
    }

    /// An option's features, by column; none for one that is not there.
    pub fn features(&self, option: usize) -> impl Iterator<Item = (usize, f64)> {
        let values =
            self.values.of(option).iter().map(|(column, value)| (*column as usize, *value));
        values.chain(self.flags.of(option).iter().map(|column| (*column as usize, 1.0)))
    }

    /// An option's features by name.
    pub fn named(&self, option: usize) -> impl Iterator<Item = (&str, f64)> {
        self.features(option).map(|(column, value)| (&*self.names[column], value))
    }

    /// The sum of each option's features, with weights by column.
    pub(super) fn sums(&self, weights: &[f64]) -> Vec<f64> {
        let sum = |option| {
            let values = self.values.of(option).iter();
            let sum: f64 = values.map(|(column, value)| weights[*column as usize] * value).sum();
            self.flags.of(option).iter().fold(sum, |sum, column| sum + weights[*column as usize])
        };
        (0..self.len()).map(sum).collect()
    }

    /// The transpose: of each column the sum over all options, with factors by option.
    pub(super) fn columns(&self, factors: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.names.len()];
        for (option, factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
            for (column, value) in self.values.of(option) {
                sums[*column as usize] += factor * value;
            }
            for column in self.flags.of(option) {
                sums[*column as usize] += factor;
            }
        }
        sums
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
        self.options.values.begin();
        self.options.flags.begin();
    }

    /// Gives the current option a feature, named by its parts put together. Given twice, it counts twice.
    /// A value that is not finite or too large is left out and counted: one bad measurement must not take
    /// the whole choice away. Before the first option there is nothing to give a feature to.
    pub fn feature(&mut self, parts: &[&str], value: f64) {
        if value.is_nan() || value.abs() > LARGEST_VALUE {
            self.options.refused += usize::from(!self.options.is_empty());
        } else if !self.options.is_empty() {
            let column = self.column(parts);
            self.options.values.push((column, value));
        }
    }

    /// A feature that is there or not: its value is 1.
    pub fn flag(&mut self, parts: &[&str]) {
        if !self.options.is_empty() {
            let column = self.column(parts);
            self.options.flags.push(column);
        }
    }

    fn column(&mut self, parts: &[&str]) -> u32 {
        self.name.clear();
        self.name.extend(parts.iter().copied());
        match self.known.get(&*self.name) {
            Some(column) => *column,
            None => self.add_name(),
        }
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
