//! A place in a file where something can be done to it.

use crate::syntax::Parsed;
use crate::text::Edit;
use crate::tree::RelPath;

#[derive(Clone, Debug)]
pub(super) struct Site {
    /// What is done, by its stable name: an operator's, or a kind of removal.
    pub family: &'static str,
    /// Probability of the family beside the others of the same function, before normalising.
    pub appeal: f64,
    /// The function it is in.
    pub function: Option<usize>,
    pub edits: Vec<Edit>,
    /// One-based.
    pub line: u32,
}

impl Site {
    /// `` `<=` → `<` in ledger/money.py: round_half_even (line 41) ``
    pub(super) fn describe(&self, path: &RelPath, parsed: &Parsed) -> String {
        let place = self
            .function
            .and_then(|function| parsed.functions().get(function))
            .map_or_else(|| "top level".to_owned(), |function| function.qualified.clone());
        format!("{} in {path}: {place} (line {})", self.change(parsed), self.line)
    }

    /// A short edit is shown as it is; a longer one by the name of what it does.
    fn change(&self, parsed: &Parsed) -> String {
        let short = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).ok()?.trim().to_owned();
            (text.chars().count() <= 32 && !text.contains(['\n', '`'])).then_some(text)
        };
        let name = self.family.replace('_', " ");
        let [edit] = self.edits.as_slice() else { return name };
        if self.family.ends_with("_removed") {
            return name;
        }
        match (short(parsed.text(&edit.range)), short(&edit.replacement)) {
            (Some(old), Some(new)) if !old.is_empty() && !new.is_empty() => {
                format!("`{old}` → `{new}`")
            }
            (Some(old), Some(_)) if !old.is_empty() => format!("{name} `{old}`"),
            _ => name,
        }
    }
}
