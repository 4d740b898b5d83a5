//! How far a job is, on standard error: on a terminal a spinner, and above it how a long run stands; plain lines
//! elsewhere.

use super::out;
use crate::session::Event;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

#[derive(Clone)]
pub(super) struct Progress {
    /// `None` where standard error is no terminal.
    live: Option<Live>,
}

#[derive(Clone)]
struct Live {
    spinner: ProgressBar,
    /// Of a run of many rounds.
    standing: ProgressBar,
    _both: MultiProgress,
}

impl Progress {
    pub(super) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { live: None };
        }
        let both = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let bar = |template: &str| {
            let bar = ProgressBar::no_length();
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            both.add(bar)
        };
        let (standing, spinner) = (bar("{wide_msg}"), bar("{spinner} {wide_msg} ({elapsed})"));
        Self { live: Some(Live { spinner, standing, _both: both }) }
    }

    pub(super) fn tell(&self, event: &Event) {
        match &self.live {
            Some(Live { spinner, standing, .. }) => {
                // What was cleared before an answer is there again; what was never said is no empty line.
                let shown = [(standing, !standing.message().is_empty()), (spinner, true)];
                for (bar, _) in shown.into_iter().filter(|(_, shown)| *shown) {
                    if bar.is_finished() {
                        bar.reset();
                    }
                    bar.tick();
                }
                spinner.set_message(event.to_string());
                spinner.enable_steady_tick(Duration::from_millis(120));
            }
            None => out::note(&event.to_string()),
        }
    }

    /// How a long run stands, shown from the next event on. Lines elsewhere have said all of it.
    pub(super) fn stand(&self, text: String) {
        if let Some(Live { standing, .. }) = &self.live {
            standing.set_message(text);
        }
    }

    /// Takes everything away before an answer is written; the next event brings it back.
    pub(super) fn clear(&self) {
        if let Some(Live { spinner, standing, .. }) = &self.live {
            spinner.finish_and_clear();
            standing.finish_and_clear();
        }
    }
}
