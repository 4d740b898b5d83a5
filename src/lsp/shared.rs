//! What all handlers share: the session, the client, the state, and the thread that reads documents.

use super::bugs::Marks;
use super::document::{Document, Reading};
use super::outline::Outline;
use super::state::{Home, Known, State};
use super::types::Uri;
use super::{diagnostics, uri};
use crate::session::Session;
use crate::syntax::Languages;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tower_lsp::Client;

/// What the first answer on a document waits for it to be read, and a later one for it to be read again.
const FIRST: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(4);

pub(super) struct Shared {
    pub(super) session: Arc<Session>,
    pub(super) client: Client,
    state: Mutex<State>,
    waiting: Mutex<Waiting>,
    more: Condvar,
    /// Counts readings that were taken.
    readings: watch::Sender<u64>,
    runtime: Handle,
}

/// Documents to be read.
#[derive(Default)]
struct Waiting {
    paths: BTreeSet<PathBuf>,
    over: bool,
}

impl Shared {
    /// Must be called within a runtime.
    pub(super) fn new(session: Arc<Session>, client: Client) -> Self {
        Self {
            session,
            client,
            state: Mutex::default(),
            waiting: Mutex::default(),
            more: Condvar::new(),
            readings: watch::Sender::new(0),
            runtime: Handle::current(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work that outlives its handler.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// Has documents read again.
    pub(super) fn read(&self, paths: impl IntoIterator<Item = PathBuf>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.paths.extend(paths);
        self.more.notify_one();
    }

    pub(super) fn end(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.over = true;
        self.more.notify_all();
    }

    fn next(&self) -> Option<PathBuf> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.over {
                return None;
            }
            if let Some(path) = waiting.paths.pop_first() {
                return Some(path);
            }
            waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads documents until the end. Runs on a thread of its own: a large file takes longer to parse than
    /// an answer may.
    pub(super) fn keep_reading(self: &Arc<Self>) {
        let languages = match self.session.languages() {
            Ok(languages) => languages,
            Err(error) => {
                tracing::warn!("no document is read: {error}");
                Languages::builtin()
            }
        };
        while let Some(path) = self.next() {
            let (document, home, known) = {
                let state = self.state();
                let Some(document) = state.documents.get(&path).cloned() else { continue };
                let home = state.home(&path);
                let known = home.as_ref().map(|home| state.known(&home.folder));
                (document, home, known.unwrap_or_default())
            };
            let reading = reading(&languages, &path, &document, home.as_ref(), &known);
            let made = reading.marks.made();
            let before = document.reading.as_ref().map(|reading| reading.marks.made());
            let taken = {
                let mut state = self.state();
                let held = state.documents.get_mut(&path);
                held.is_some_and(|held| held.take(document.revision, reading))
            };
            if taken {
                self.readings.send_modify(|count| *count += 1);
                // A bug that is in one document's text is told in others, where its tests are.
                if made == before.unwrap_or_default() {
                    diagnostics::publish(self, &path);
                } else {
                    diagnostics::told_anew(self, &path);
                }
            }
        }
    }

    /// The document as it is when this is first polled, read where that is soon enough. What is changed
    /// while this waits belongs to later messages.
    pub(super) async fn document(&self, uri: &Uri) -> Option<(PathBuf, Document)> {
        let path = uri::path(uri)?;
        let mut readings = self.readings.subscribe();
        let asked = self.state().documents.get(&path).cloned()?;
        let patience = if asked.reading.is_some() { AGAIN } else { FIRST };
        let settled = async {
            loop {
                let settled = {
                    let state = self.state();
                    let held = state.documents.get(&path);
                    held.is_none_or(|held| held.revision != asked.revision || held.is_read())
                };
                // A text that nothing is known of is answered with what is known of a later one.
                let unknown = asked.reading.is_none() && self.is_open_and_unread(&path);
                if (settled && !unknown) || readings.changed().await.is_err() {
                    return;
                }
            }
        };
        // Late is answered with what was there before.
        tokio::time::timeout(patience, settled).await.ok();
        let state = self.state();
        let held = state.documents.get(&path);
        let newer = held.filter(|held| held.revision == asked.revision || asked.reading.is_none());
        let document = newer.cloned().unwrap_or(asked);
        Some((path, document))
    }

    fn is_open_and_unread(&self, path: &Path) -> bool {
        self.state().documents.get(path).is_some_and(|held| held.reading.is_none())
    }
}

fn reading(
    languages: &Languages,
    path: &Path,
    document: &Document,
    home: Option<&Home>,
    known: &Known,
) -> Reading {
    let Some(home) = home else { return Reading::default() };
    let text = document.bytes();
    let on_disk = std::fs::read(path).ok();
    let marks = Marks::of(home, &text, on_disk.as_deref(), known);
    let outline = languages
        .for_path(&home.file)
        .map(|language| Outline::of(language, text, language.is_test_path(&home.file)));
    Reading { outline: outline.unwrap_or_default(), marks }
}
