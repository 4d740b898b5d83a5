//! The tool `practice_status`.

use super::practice_argument::PracticeArguments;
use super::tool::{Effect, Entry, Notice};
use crate::session::{
    Error, Job, PracticeAnswer, PracticeListAnswer, PracticeStatsAnswer, Session,
};

#[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum About {
    Round,
    List,
    Stats,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    #[serde(flatten)]
    practice: PracticeArguments,
    /// round: the open round, or the one of `practice`. list: all rounds, and the kinds of edits that come
    /// back. stats: solved, times, hints, by kind of edit; ratings over time. Default: round.
    #[serde(default)]
    #[schemars(with = "About")]
    about: Option<About>,
}

#[derive(Default, serde::Serialize, schemars::JsonSchema)]
struct Answer {
    /// Null where something else was asked for.
    round: Option<PracticeAnswer>,
    list: Option<PracticeListAnswer>,
    stats: Option<PracticeStatsAnswer>,
}

pub(super) fn entry() -> Entry {
    let notice = Notice {
        name: "practice_status",
        title: "Practice: how it stands",
        description: "Shows a round of practice: its tree, what is broken, what the person changed, hints and \
                      time; or all rounds; or the person's statistics and ratings.",
        effect: Effect::Adds,
    };
    Entry::new(&notice, run)
}

fn run(session: &Session, arguments: Arguments, _job: &Job) -> Result<Answer, Error> {
    let practice = arguments.practice.reference();
    let about = arguments.about.unwrap_or(About::Round);
    Ok(match about {
        About::Round => {
            Answer { round: Some(session.practice_show(&practice)?), ..Answer::default() }
        }
        About::List => {
            let list = session.practice_list(&practice.repository)?;
            Answer { list: Some(list), ..Answer::default() }
        }
        About::Stats => {
            let stats = session.practice_stats(&practice.repository)?;
            Answer { stats: Some(stats), ..Answer::default() }
        }
    })
}
