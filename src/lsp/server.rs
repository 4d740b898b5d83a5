//! The messages: each goes to the file that knows it.

use super::commands::{self, NAMES, PREFIX};
use super::document::Document;
use super::profile::Profile;
use super::shared::Shared;
use super::state::Settings;
use super::types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProvider,
    CodeActionResponse, CodeLens, CodeLensOptions, CodeLensParams, DiagnosticOptions,
    DiagnosticProvider, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentDiagnosticParams,
    DocumentDiagnosticReport, ExecuteCommandOptions, ExecuteCommandParams, InitializeParams,
    InitializeResult, InitializedParams, InlayHint, InlayHintParams, InlayHintProvider, LspAny,
    SaveOptions, ServerCapabilities, ServerInfo, TextDocumentContent, TextDocumentContentOptions,
    TextDocumentContentParams, TextDocumentContentResult, TextDocumentSync, TextDocumentSyncKind,
    TextDocumentSyncOptions, WorkDoneProgressCancelParams, WorkspaceFolder, WorkspaceFolders,
    WorkspaceFoldersServerCapabilities, WorkspaceOptions,
};
use super::{actions, diagnostics, hints, lenses, pipe, uri, virtual_documents, watch, work};
use crate::session::Session;
use crate::wire::{Frame, Input, Output};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::jsonrpc::Result;
use tower_lsp::{LanguageServer, LspService, Server};

/// Messages that are worked on at once. No handler waits for the client or for a test run, so that this is
/// never reached; `tower-lsp` would stop reading at it.
const AT_ONCE: usize = 64;
/// What is written gets to be read once the client has said `exit`.
const LAST: Duration = Duration::from_secs(1);
/// How often it is looked whether the process that started us is still there.
const PARENT: Duration = Duration::from_secs(3);

/// How a client left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// After `shutdown`, as the protocol wants it.
    InOrder,
    Abruptly,
}

/// Serves until the client leaves. `first` was read from `input` before.
pub fn serve(
    session: Session,
    first: Frame,
    input: Input,
    output: Output,
) -> anyhow::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let (reader, writer, over) = pipe::streams(first, input, output);
        let session = Arc::new(session);
        let (service, socket) = LspService::build(|client| Face {
            shared: Arc::new(Shared::new(Arc::clone(&session), client)),
        })
        .custom_method("window/workDoneProgress/cancel", Face::cancel)
        .finish();
        let shared = Arc::clone(&service.inner().shared);
        begin_threads(&shared);
        Server::new(reader, writer, socket).concurrency_level(AT_ONCE).serve(service).await;
        shared.end();
        let ended = if shared.state().leaving { Ended::InOrder } else { Ended::Abruptly };
        // What was answered last is still to be written; whoever does not read it does not want it.
        tokio::task::spawn_blocking(move || over.recv_timeout(LAST).ok()).await.ok();
        ended
    });
    // A job's thread may still be at work: it ends with the process, and begins again when it is asked for.
    runtime.shutdown_background();
    Ok(ended)
}

fn begin_threads(shared: &Arc<Shared>) {
    let reading = Arc::clone(shared);
    std::thread::spawn(move || reading.keep_reading());
    let watching = Arc::downgrade(shared);
    std::thread::spawn(move || watch::watch(&watching));
}

/// Ends with the process that started us, where that was killed and left our input open.
fn leave_with(parent: i32) {
    let Some(parent) = rustix::process::Pid::from_raw(parent) else { return };
    loop {
        std::thread::sleep(PARENT);
        // One that we may not ask after is there all the same.
        if rustix::process::test_kill_process(parent) == Err(rustix::io::Errno::SRCH) {
            break;
        }
    }
    tracing::warn!("the process that started ssr-mcp is gone");
    #[expect(clippy::exit, reason = "nobody is left to answer; jobs begin again when asked for")]
    std::process::exit(1);
}

struct Face {
    shared: Arc<Shared>,
}

impl Face {
    #[expect(clippy::unused_async, reason = "what a custom method is")]
    async fn cancel(&self, params: WorkDoneProgressCancelParams) {
        work::cancel(&self.shared, params);
    }
}

// Every handler that changes state does so before its first await: they are first polled in the order in
// which their messages came, and may interleave at awaits only.
impl LanguageServer for Face {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let profile = Profile::of(&params);
        let encoding = profile.encoding.kind();
        let pulls = profile.pulls_diagnostics;
        let mut state = self.shared.state();
        state.folders = folders(&params);
        state.settings =
            params.initialization_options.as_ref().and_then(Settings::of).unwrap_or_default();
        state.profile = profile;
        drop(state);
        if let Some(parent) = params.process_id {
            std::thread::spawn(move || leave_with(parent));
        }
        Ok(InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(encoding),
                ..offered(pulls)
            },
            server_info: Some(ServerInfo {
                name: "ssr-mcp".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    async fn initialized(&self, _: InitializedParams) {}

    async fn shutdown(&self) -> Result<()> {
        self.shared.state().leaving = true;
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let Some(path) = uri::path(&item.uri) else { return };
        let document = Document::new(item.uri, item.version, &item.text);
        let practice = self.shared.session.practice_at(&path);
        {
            let mut state = self.shared.state();
            if let Some(place) = practice {
                state.practices.insert(place.tree.clone(), place);
            }
            state.documents.insert(path.clone(), document);
        }
        self.shared.read([path]);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        let Some(path) = uri::path(&document.text_document_identifier.uri) else { return };
        {
            let mut state = self.shared.state();
            let encoding = state.profile.encoding;
            let Some(held) = state.documents.get_mut(&path) else { return };
            if held.change(document.version, &params.content_changes, encoding).is_err() {
                // What the client shows is not known any more; saying nothing of it is better than guessing.
                tracing::warn!("{}: a change does not fit; open it anew", path.display());
                state.documents.remove(&path);
                return;
            }
        }
        self.shared.read([path]);
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        let Some(path) = uri::path(&params.text_document.uri) else { return };
        let folder = self.shared.state().folder_of(&path);
        // Unnoticed edits are those of the tree as it is saved.
        let asked = self.shared.state().settings.unnoticed_hints;
        commands::look_at(&self.shared, folder.into_iter().filter(|_| asked).collect());
        self.shared.read([path]);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        let Some(path) = uri::path(&uri) else { return };
        let pushed = {
            let mut state = self.shared.state();
            state.documents.remove(&path);
            !state.profile.pulls_diagnostics
        };
        if pushed {
            self.shared.client.publish_diagnostics(uri, Vec::new(), None).await;
        }
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        commands::configure(&self.shared, &params.settings);
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let mut state = self.shared.state();
        let removed: Vec<PathBuf> = paths(&params.event.removed);
        state.folders.retain(|folder| !removed.contains(folder));
        for folder in &removed {
            state.known.remove(folder);
        }
        let added: Vec<PathBuf> = paths(&params.event.added);
        state.folders.extend(added);
    }

    async fn did_change_watched_files(&self, _: DidChangeWatchedFilesParams) {}

    async fn code_action(
        &self,
        params: CodeActionParams,
    ) -> Result<Option<Vec<CodeActionResponse>>> {
        Ok(actions::code_actions(&self.shared, params).await)
    }

    /// Nothing is left to be resolved; some clients ask all the same, also for what has a command.
    async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        Ok(action)
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        Ok(lenses::code_lenses(&self.shared, params).await)
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        Ok(hints::inlay_hints(&self.shared, params).await)
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReport> {
        Ok(diagnostics::pull(&self.shared, params).await)
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LspAny>> {
        commands::execute(&self.shared, params).await
    }

    async fn text_document_content(
        &self,
        params: TextDocumentContentParams,
    ) -> Result<TextDocumentContentResult> {
        let text = virtual_documents::content(&self.shared, &params.uri)?;
        Ok(TextDocumentContentResult { text })
    }
}

fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    match &params.workspace_folders_initialize_params.workspace_folders {
        Some(WorkspaceFolders::WorkspaceFolderList(given)) if !given.is_empty() => paths(given),
        _ => {
            #[allow(deprecated, reason = "what clients of before workspace folders send")]
            let root = params.root_uri.as_ref();
            root.and_then(uri::path).into_iter().collect()
        }
    }
}

fn paths(folders: &[WorkspaceFolder]) -> Vec<PathBuf> {
    folders.iter().filter_map(|folder| uri::path(&folder.uri)).collect()
}

fn offered(pulls_diagnostics: bool) -> ServerCapabilities {
    let kinds = actions::KINDS.iter().map(|kind| CodeActionKind::from(*kind)).collect();
    let diagnostics = DiagnosticOptions {
        identifier: Some("ssr-mcp".to_owned()),
        inter_file_dependencies: true,
        workspace_diagnostics: false,
        ..DiagnosticOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(SaveOptions { include_text: Some(false) }.into()),
            ..TextDocumentSyncOptions::default()
        })),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(CodeActionOptions {
            code_action_kinds: Some(kinds),
            resolve_provider: Some(true),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
            ..CodeLensOptions::default()
        }),
        inlay_hint_provider: Some(InlayHintProvider::Bool(true)),
        diagnostic_provider: pulls_diagnostics
            .then_some(DiagnosticProvider::DiagnosticOptions(diagnostics)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: NAMES.iter().map(|name| format!("{PREFIX}{name}")).collect(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(true.into()),
            }),
            text_document_content: Some(TextDocumentContent::Options(TextDocumentContentOptions {
                schemes: vec![virtual_documents::SCHEME.to_owned()],
            })),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}
