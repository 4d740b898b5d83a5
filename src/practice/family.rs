//! Families of edits: the strategy that made the bug and what it did, which is what a person learns to see.

/// Of an edit whose operator is not known: lines went, came, or were rewritten.
pub(super) const REMOVED: &str = "lines_removed";
pub(super) const ADDED: &str = "lines_added";
pub(super) const REWRITTEN: &str = "lines_rewritten";

/// `direct/comparison_boundary`.
#[must_use]
pub fn family(strategy: &str, kind: &str) -> String {
    format!("{strategy}/{kind}")
}

/// What an edit of this kind does, to follow "here".
#[must_use]
pub fn in_words(kind: &str) -> &'static str {
    match kind {
        "comparison_boundary" => {
            "a comparison includes or excludes its limit wrongly (`<` for `<=`)"
        }
        "comparison_negation" => "a comparison is the opposite of what it was (`==` for `!=`)",
        "arithmetic" => "an arithmetic operator is another one (`+` for `-`)",
        "bitwise" => "a bitwise operator is another one (`&` for `|`)",
        "boolean_operator" => "`and` and `or` are mixed up",
        "unary" => "a sign or a unary operator was put in or taken away",
        "negate_condition" => "a condition is negated",
        "drop_not" => "a `not` is missing",
        "constant" => "a number is another one",
        "boolean_constant" => "true and false are mixed up",
        "string_constant" => "a text is another one",
        "swap_operands" => "the two sides of an operator changed places",
        "swap_arguments" => "arguments of a call changed places",
        "drop_argument" => "an argument of a call is missing",
        "drop_default" => "a parameter has another default value",
        "replace_name" => "a name is another one that is known there",
        "replace_attribute" => "an attribute or a method is another one",
        "neutral_return" => "a function returns nothing, or a neutral value",
        "call_to_argument" => "a call is gone, only its argument is left",
        "off_by_one" => "a range or a slice ends one too early or too late",
        "break_continue" => "`break` and `continue` are mixed up",
        "invert_branches" => "two branches changed places",
        "remove_else" => "an `else` branch is missing",
        "remove_conditional" => "what was done under a condition is always done",
        "assignment_operator" => "an assignment's operator is another one (`=` for `+=`)",
        "remove_assignment" => "an assignment is missing",
        "remove_call" => "a call for its effect is missing",
        "remove_loop" => "what was done in a loop is done once",
        "remove_wrapper" => "a `try` or `with` around statements is missing",
        "shuffle_statements" => "two statements changed places",
        "early_return" => "a function returns too early",
        "break_chain" => "one side of an operation is missing",
        "body_removed" => "a function's body is missing",
        "statements_removed" => "consecutive statements are missing",
        "branch_removed" => "a whole branch, loop or handler is missing",
        "function_removed" => "a whole function is missing",
        REMOVED => "lines are missing",
        ADDED => "lines are there that were not",
        _ => "lines were rewritten",
    }
}
