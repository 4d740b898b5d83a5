//! Prompts, which clients offer as commands.

use crate::config::ToolGroup;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use std::collections::{BTreeMap, BTreeSet};

type Given = BTreeMap<String, String>;

struct Known {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name, description, whether it must be given.
    arguments: &'static [(&'static str, &'static str, bool)],
    /// Of what is given, and the groups of tools that are offered.
    text: fn(&Given, &BTreeSet<ToolGroup>) -> String,
}

const PROMPTS: [Known; 4] = [
    Known {
        name: "inject",
        title: "Self-play: inject a bug",
        description: "Have a proven, hidden bug made in a copy of this repository",
        arguments: &[
            ("strategy", "direct, removal, history or mixed (default)", false),
            ("target", "FILE or FILE:SYMBOL that the bug is to be in", false),
        ],
        text: |given, _| {
            let call = with(given, &["strategy", "target"]);
            format!(
                "Call inject_bug{call}, then job until it is done. Tell me the artifact's id, what the checks \
                 said and how many tests the bug breaks. Do not tell me where the bug is or read its \
                 bug_inject.diff: somebody will look for it."
            )
        },
    },
    Known {
        name: "solve",
        title: "Self-play: solve a bug yourself",
        description: "Repair an injected bug from its reversed weakened test alone",
        arguments: &[("artifact", "The artifact's id, or the beginning of it", true)],
        text: |given, _| {
            let id = given.get("artifact").map_or("", String::as_str);
            format!(
                "Call play_begin with role = solver and artifact_id = {id}. Its task is all you may know of the \
                 bug: read nothing else of the artifact, and work with the play_ tools only. Find the \
                 cause, repair the code, run the tests, and end with play_submit. Tell me the grade and \
                 its reason."
            )
        },
    },
    Known {
        name: "practise",
        title: "Self-play: practise debugging",
        description: "Give me a hidden bug of my own code to find, with hints when I ask",
        arguments: &[("target", "FILE or FILE:SYMBOL that the bug is to be in", false)],
        text: |given, offered| {
            let call = with(given, &["target"]);
            if offered.contains(&ToolGroup::Practice) {
                return practised(&call);
            }
            format!(
                "I want to practise debugging on my own code. Call inject_bug{call}, then job until it is done. \
                 Show me only which tests fail with the bug and the reversed weakening of its tests. Give \
                 a small hint when I ask for one, never the answer before I give up. When I have a patch, \
                 judge it with grade_patch and tell me its reason."
            )
        },
    },
    Known {
        name: "missing_tests",
        title: "Self-play: write the tests that are missing",
        description: "Look at edits that no test notices and write tests that do",
        arguments: &[("target", "FILE or FILE:SYMBOL to look at", false)],
        text: |given, _| {
            let call = with(given, &["target"]);
            format!(
                "Call unnoticed_edits{call}, then job until it is done. For each edit that changes what a caller \
                 sees, propose one test that passes now and fails with the edit. Leave out edits that make \
                 no difference that matters, and say why."
            )
        },
    },
];

fn practised(call: &str) -> String {
    format!(
        "I want to practise debugging on my own code. Call practice_start{call}, then job until it is done; if a \
         round is open already, go on with it (practice_status). Tell me where the practice tree is and what is \
         broken, in words; I edit the tree myself. Do not look for the bug: read neither the tree nor its \
         difference to the repository. Run the tests with practice_run when I want to see them, call \
         practice_check when I say that it is repaired, practice_hint only when I ask for a hint, and \
         practice_reveal when it is solved, or with give_up when I give up. Then tell me what the bug was, who \
         else tried it, and my rating with its deviation."
    )
}

pub(super) fn list() -> Vec<Prompt> {
    let argument = |(name, description, required): &(&str, &str, bool)| {
        PromptArgument::new(*name).with_description(*description).with_required(*required)
    };
    let prompt = |known: &Known| {
        let arguments = known.arguments.iter().map(argument).collect();
        Prompt::new(known.name, Some(known.description), Some(arguments)).with_title(known.title)
    };
    PROMPTS.iter().map(prompt).collect()
}

/// The prompt with what is given filled in, or why there is none.
pub(super) fn get(
    name: &str,
    given: &Given,
    offered: &BTreeSet<ToolGroup>,
) -> Result<GetPromptResult, String> {
    let Some(known) = PROMPTS.iter().find(|known| known.name == name) else {
        return Err(format!("there is no prompt {name:?}; prompts/list names them"));
    };
    let missing =
        known.arguments.iter().find(|(name, _, must)| *must && !given.contains_key(*name));
    if let Some((missing, description, _)) = missing {
        return Err(format!("the prompt {name} needs {missing}: {description}"));
    }
    let message = PromptMessage::new_text(Role::User, (known.text)(given, offered));
    Ok(GetPromptResult::new(vec![message]).with_description(known.description))
}

/// The arguments of a call, in words.
fn with(given: &Given, names: &[&str]) -> String {
    let told: Vec<String> = names
        .iter()
        .filter_map(|name| given.get(*name).map(|value| format!("{name} = {value}")))
        .collect();
    if told.is_empty() { String::new() } else { format!(" with {}", told.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, given: &[(&str, &str)]) -> Result<String, String> {
        offering(&[ToolGroup::Core], name, given)
    }

    fn offering(
        groups: &[ToolGroup],
        name: &str,
        given: &[(&str, &str)],
    ) -> Result<String, String> {
        let groups = groups.iter().copied().collect();
        let given = given.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        get(name, &given, &groups)
            .map(|prompt| serde_json::to_string(&prompt.messages).unwrap_or_default())
    }

    #[test]
    fn what_is_given_is_filled_in() {
        assert!(text("inject", &[]).unwrap().contains("Call inject_bug, then"));
        let call = "inject_bug with strategy = removal and target = a.py, then";
        assert!(
            text("inject", &[("target", "a.py"), ("strategy", "removal")]).unwrap().contains(call)
        );
        assert!(
            text("solve", &[("artifact", "0123abcd")]).unwrap().contains("artifact_id = 0123abcd")
        );
    }

    #[test]
    fn who_has_the_tools_of_practice_practises_with_them() {
        let target = [("target", "a.py")];
        assert!(text("practise", &target).unwrap().contains("inject_bug with target = a.py"));
        let told = offering(&ToolGroup::ALL, "practise", &target).unwrap();
        assert!(told.contains("practice_start with target = a.py, then job"), "{told}");
        assert!(!told.contains("inject_bug"), "{told}");
    }

    #[test]
    fn what_is_missing_or_unknown_is_said() {
        assert!(text("solve", &[]).unwrap_err().contains("needs artifact"));
        assert!(text("nonsense", &[]).unwrap_err().contains("no prompt"));
    }
}
