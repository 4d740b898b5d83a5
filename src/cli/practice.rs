//! `ssr-mcp practice`.

mod show;

use super::arguments::{Attempts, Injection, Tests};
use super::{Context, Ended, Exit};
use crate::session::{
    ArtifactRef, PracticePick, PracticeRaceRequest, PracticeRef, PracticeRunRequest,
    PracticeStartRequest, Repository,
};
use std::path::PathBuf;

/// Practise debugging on your own code: a bug that is proven real, in a tree beside your own
///
/// Without an action: the open round.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = false,
    after_help = "A round: a bug is put into a copy of the repository, the practice tree, which you edit with \
your own editor; your tree is left alone. You see what a solver sees: which behaviour is broken. Tests run \
in a sandbox; a check grades your repair as any solver's is graded. A hint tells the file, then the function, \
the line and the kind of edit, and lowers the score: 1, 0.8, 0.6, 0.4, 0.25; giving up is 0. Ratings of you \
and of the bugs are Glicko-2's; kinds of edits that you missed come back after 1, 3, 7 and 16 days.\n\n\
Examples:\n  \
ssr-mcp practice start                        a new bug\n  \
ssr-mcp practice start --target src/money.py  a new bug in this file\n  \
ssr-mcp practice start 3f2a90c1               the bug of this artifact\n  \
ssr-mcp practice next                         what is due, or near your rating\n  \
ssr-mcp practice                              the open round: where its tree is, what is broken\n  \
ssr-mcp practice run                          the tests on the tree as you have it\n  \
ssr-mcp practice hint                         the next hint\n  \
ssr-mcp practice check                        is it repaired?\n  \
ssr-mcp practice give-up                      end it, and tell the bug\n  \
ssr-mcp practice race                         the embedded solver at the same bug\n  \
ssr-mcp practice stats --json                 solved, times, families, rating over time\n\n\
Exit code 1 says that a test fails, or that it is no repair."
)]
pub struct Practice {
    #[command(subcommand)]
    action: Option<Action>,
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    repo: PathBuf,
    /// The round: its id, or the beginning of it [default: the open one that was begun last]
    #[arg(long, value_name = "ID", global = true)]
    round: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Begin a round
    Start(Box<Start>),
    /// Begin a round with what comes next: a family that is due, else the bug nearest to your rating, else
    /// a new one
    Next(Next),
    /// The round as it stands
    Show,
    /// Run the visible tests on the practice tree, in the sandbox
    Run {
        /// The tests as they are in the tree, without the lines put back that they lack
        #[arg(long)]
        weakened: bool,
    },
    /// Have the repair graded
    Check,
    /// Take the next hint: file, function, line, kind of edit
    Hint,
    /// End the round, and tell the bug
    GiveUp,
    /// Tell the bug of a round that is over
    Reveal {
        /// Of an open one, too: that is giving up
        #[arg(long)]
        give_up: bool,
    },
    /// Set the embedded solver on the same bug. Exit code 1 says that it failed
    Race(Race),
    /// All rounds, and the families that come back
    List,
    /// Solved, given up, times, hints, by family; ratings over time
    Stats,
}

#[derive(Debug, clap::Args)]
struct Start {
    /// The bug of this artifact: its id, or a folder with its five parts [default: a new one]
    #[arg(conflicts_with_all = ["wrong_book", "strategy", "target", "seed"])]
    artifact: Option<String>,
    /// The bug of this wrong-book entry [default: of the one with the most failures]
    #[arg(long, value_name = "ENTRY", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["strategy", "target", "seed"])]
    wrong_book: Option<String>,
    #[command(flatten)]
    injection: Injection,
    #[command(flatten)]
    next: Next,
}

#[derive(Debug, clap::Args)]
struct Next {
    /// Also while another round is open
    #[arg(long)]
    another: bool,
    #[command(flatten)]
    tests: Tests,
}

#[derive(Debug, clap::Args)]
struct Race {
    #[command(flatten)]
    attempts: Attempts,
    /// The same seed gives the same attempts [default: from the clock, and shown]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

pub(super) fn run(command: &Practice, context: &mut Context<'_>) -> Ended {
    let repository = Repository { dir: Some(command.repo.clone()), ..Repository::default() };
    let practice = PracticeRef { repository: repository.clone(), id: command.round.clone() };
    let session = context.session;
    let good = match command.action.as_ref().unwrap_or(&Action::Show) {
        Action::Start(start) => begin(command, start.pick(), &start.next, context)?,
        Action::Next(next) => begin(command, PracticePick::Next, next, context)?,
        Action::Show => {
            let answer = session.practice_show(&practice)?;
            context.out.answer(&answer, show::round)?;
            true
        }
        Action::Run { weakened } => {
            let request = PracticeRunRequest { practice, weakened: *weakened };
            let answer = session.practice_run(&request, &context.job)?;
            context.progress.clear();
            context.out.answer(&answer, show::run)?;
            answer.green
        }
        Action::Check => {
            let answer = session.practice_check(&practice, &context.job)?;
            context.progress.clear();
            context.out.answer(&answer, show::check)?;
            answer.solved
        }
        Action::Hint => {
            let answer = session.practice_hint(&practice)?;
            context.out.answer(&answer, show::hint)?;
            true
        }
        Action::Reveal { give_up: false } => {
            let answer = session.practice_reveal(&practice)?;
            context.out.answer(&answer, show::reveal)?;
            true
        }
        Action::GiveUp | Action::Reveal { give_up: true } => {
            let answer = session.practice_give_up(&practice)?;
            context.out.answer(&answer, show::reveal)?;
            true
        }
        Action::Race(race) => {
            let Attempts { attempts, runs } = race.attempts;
            let request = PracticeRaceRequest { practice, attempts, runs, seed: race.seed };
            let answer = session.practice_race(&request, &context.job)?;
            context.progress.clear();
            context.out.answer(&answer, show::race)?;
            answer.solved
        }
        Action::List => {
            let answer = session.practice_list(&repository)?;
            context.out.answer(&answer, show::list)?;
            true
        }
        Action::Stats => {
            let answer = session.practice_stats(&repository)?;
            context.out.answer(&answer, show::stats)?;
            true
        }
    };
    Ok(Exit::done_if(good))
}

fn begin(
    command: &Practice,
    pick: PracticePick,
    next: &Next,
    context: &mut Context<'_>,
) -> Result<bool, super::Failure> {
    let repository = next.tests.repository(Some(&command.repo));
    let request = PracticeStartRequest { repository, pick, another: next.another };
    let answer = context.session.practice_start(&request, &context.job)?;
    context.progress.clear();
    context.out.answer(&answer, show::round)?;
    Ok(true)
}

impl Start {
    fn pick(&self) -> PracticePick {
        if let Some(artifact) = &self.artifact {
            return PracticePick::Artifact(ArtifactRef::typed(artifact));
        }
        if let Some(entry) = &self.wrong_book {
            return PracticePick::WrongBook(Some(entry.clone()).filter(|entry| !entry.is_empty()));
        }
        let Injection { strategy, target, seed } = &self.injection;
        PracticePick::New { strategy: *strategy, target: target.clone(), seed: *seed }
    }
}
