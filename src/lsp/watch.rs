//! Looking at the store: what another process (an agent, the command line) puts there shows in the editor.

use super::notices::{Changed, ChangedParams};
use super::shared::Shared;
use super::state::{Known, KnownBug, KnownEdit, repository};
use crate::diff::Patch;
use crate::session::{Bug, Session, UnnoticedLine};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often the store is looked at.
const TICK: Duration = Duration::from_secs(1);
/// Bugs that are shown, the latest.
const BUGS: u32 = 200;

/// Looks until the server is gone.
pub(super) fn watch(shared: &Weak<Shared>) {
    while let Some(shared) = shared.upgrade() {
        let folders = shared.state().all_folders();
        for folder in folders {
            look(&shared, &folder, false);
        }
        drop(shared);
        std::thread::sleep(TICK);
    }
}

/// The same, of a folder and of the practice trees that were made of it.
pub(super) fn look_with_practice(shared: &Arc<Shared>, folder: &Path) {
    look(shared, folder, true);
    let trees: Vec<PathBuf> = {
        let state = shared.state();
        let of_it = state.practices.values().filter(|place| place.root == folder);
        of_it.map(|place| place.tree.clone()).collect()
    };
    for tree in trees {
        look(shared, &tree, true);
    }
}

/// Takes over what is new in the store of a folder. `anew`: also where nothing was written.
pub(super) fn look(shared: &Arc<Shared>, folder: &Path, anew: bool) {
    let place = shared.state().practices.get(folder).cloned();
    let repository = repository(place.as_ref().map_or(folder, |place| &place.root));
    let Ok(stamp) = shared.session.stamp(&repository) else { return };
    let unnoticed = {
        let state = shared.state();
        if !anew && state.known.get(folder).is_some_and(|known| known.stamp == stamp) {
            return;
        }
        state.settings.unnoticed_hints
    };
    let known = match place {
        Some(place) => shared
            .session
            .practice_show(&place.round())
            .map(|round| Known { practice: Some(round), ..Known::default() }),
        None => known(&shared.session, folder, unnoticed),
    };
    let known = match known {
        Ok(known) => Known { stamp, ..known },
        Err(error) => {
            tracing::debug!("{}: {error}", folder.display());
            Known { stamp, ..Known::default() }
        }
    };
    let paths: Vec<PathBuf> = {
        let mut state = shared.state();
        let shows = known.shows();
        let before = state.known.insert(folder.to_owned(), Arc::new(known));
        if before.map(|before| before.shows()).unwrap_or_default() == shows {
            return;
        }
        let inside = |path: &&PathBuf| state.folder_of(path).as_deref() == Some(folder);
        let paths: Vec<PathBuf> = state.documents.keys().filter(inside).cloned().collect();
        // What stands where is another now.
        for path in &paths {
            if let Some(document) = state.documents.get_mut(path) {
                document.read = 0;
            }
        }
        paths
    };
    shared.read(paths);
    refresh(shared, folder);
}

fn known(
    session: &Session,
    folder: &Path,
    unnoticed: bool,
) -> Result<Known, crate::session::Error> {
    let repository = repository(folder);
    let bugs = session.bugs(&repository, BUGS)?;
    let edits = if unnoticed { session.known_unnoticed(&repository)?.edits } else { Vec::new() };
    Ok(Known {
        bugs: bugs.into_iter().filter(|bug| !bug.hidden).filter_map(known_bug).collect(),
        unnoticed: edits.into_iter().filter_map(known_edit).collect(),
        ..Known::default()
    })
}

fn known_bug(bug: Bug) -> Option<KnownBug> {
    let patch = Patch::parse(&bug.bug).ok()?;
    let weakening = Patch::parse(&bug.weakening).ok()?;
    Some(KnownBug { bug, patch, weakening })
}

fn known_edit(edit: UnnoticedLine) -> Option<KnownEdit> {
    let patch = Patch::parse(edit.edit.diff.as_bytes()).ok()?;
    Some(KnownEdit { edit, patch })
}

/// Has the client ask again for what it shows.
fn refresh(shared: &Arc<Shared>, folder: &Path) {
    let profile = shared.state().profile.clone();
    let client = shared.client.clone();
    let folder = folder.to_owned();
    shared.spawn(async move {
        // What a client cannot do it is not asked for; what it refuses costs nothing but itself.
        if profile.refreshes_lenses {
            client.code_lens_refresh().await.ok();
        }
        if profile.refreshes_hints {
            client.inlay_hint_refresh().await.ok();
        }
        if profile.refreshes_diagnostics {
            client.workspace_diagnostic_refresh().await.ok();
        }
        if profile.ours {
            client.send_notification::<Changed>(ChangedParams { folder }).await;
        }
    });
}
