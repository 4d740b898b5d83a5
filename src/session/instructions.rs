//! When a coding agent should reach for this server: the few lines that it is told before it has seen
//! a tool, since some clients show a model names only until it asks for more.

/// Names verbs, which are named alike on every face.
pub const INSTRUCTIONS: &str = "\
Self-play on the repository of the working directory, in a sandbox on a copy: the repository itself is changed \
by apply alone, which asks its user. Reach for it to practise debugging on this code, to learn how much its \
tests notice, or to get proven bugs with their repairs as training data. inject_bug makes a bug that is proven \
real and hidden by weakened tests; check_artifact proves one; solve attempts repairs from the reversed \
weakening; play_begin lets you be the solver or the injector yourself; grade_patch judges a patch; score_reward gives both roles' rewards; unnoticed_edits shows where tests \
are missing. What takes seconds to minutes answers with a job's id at once, and the tool job waits for its \
answer.";
