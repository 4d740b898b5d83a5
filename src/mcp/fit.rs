//! Keeps an answer to what a model's context takes: long texts keep their head and tail, long lists their
//! beginning. The whole of it stays a resource.

use serde_json::Value;

/// Characters of a text that is left whole; of a longer one so many of its head and tail stay.
const TEXT: usize = 30_000;
const HEAD: usize = 20_000;
const TAIL: usize = 8_000;
/// Items of a list that is left whole.
const ITEMS: usize = 200;

/// Cuts what is too long; whether anything was.
pub(super) fn fit(value: &mut Value) -> bool {
    match value {
        Value::String(text) => cut(text),
        Value::Array(items) => {
            let left_out = items.len().saturating_sub(ITEMS);
            items.truncate(ITEMS);
            if left_out > 0 && items.iter().all(Value::is_string) {
                items.push(Value::String(format!("… {left_out} more are left out")));
            }
            all(items.iter_mut()) || left_out > 0
        }
        Value::Object(object) => all(object.values_mut()),
        _ => false,
    }
}

/// Each of them, whatever became of the others.
fn all<'v>(values: impl Iterator<Item = &'v mut Value>) -> bool {
    values.map(fit).filter(|cut| *cut).count() > 0
}

fn cut(text: &mut String) -> bool {
    let length = text.chars().count();
    if length <= TEXT {
        return false;
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    *text = format!("{head}\n… {} characters are left out …\n{tail}", length - HEAD - TAIL);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_short_stays_as_it_is() {
        let mut value =
            json!({ "a": "é".repeat(TEXT), "b": vec![1; ITEMS], "c": [null, { "d": 1.5 }] });
        let before = value.clone();
        assert!(!fit(&mut value));
        assert_eq!(value, before);
    }

    #[test]
    fn a_long_text_keeps_head_and_tail_by_characters() {
        let mut value = json!({ "log": [format!("{}{}", "é".repeat(TEXT), "end")] });
        assert!(fit(&mut value));
        let text = value["log"][0].as_str().unwrap();
        assert!(text.starts_with("éé") && text.ends_with("éend"));
        assert!(text.contains("2003 characters are left out"), "{text}");
        assert_eq!(text.chars().filter(|c| *c == 'é').count(), HEAD + TAIL - 3);
    }

    #[test]
    fn a_long_list_keeps_its_beginning() {
        let mut value = json!({ "tests": vec!["t"; ITEMS + 5], "numbers": vec![0; ITEMS + 5] });
        assert!(fit(&mut value));
        assert_eq!(value["tests"][ITEMS], "… 5 more are left out");
        assert_eq!(value["numbers"].as_array().unwrap().len(), ITEMS);
    }
}
