//! How far a job is, on standard error: a spinner on a terminal, plain lines elsewhere.

use super::out;
use crate::session::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

#[derive(Clone)]
pub(super) struct Progress {
    /// `None` where standard error is no terminal.
    spinner: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { spinner: None };
        }
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            spinner.set_style(style);
        }
        Self { spinner: Some(spinner) }
    }

    pub(super) fn tell(&self, event: &Event) {
        match &self.spinner {
            Some(spinner) => {
                if spinner.is_finished() {
                    spinner.reset();
                }
                spinner.set_message(event.to_string());
                spinner.enable_steady_tick(Duration::from_millis(120));
            }
            None => out::note(&event.to_string()),
        }
    }

    /// Takes the spinner away before an answer is written; the next event brings it back.
    pub(super) fn clear(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}
