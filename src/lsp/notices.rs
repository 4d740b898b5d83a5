//! Our own notifications, for clients that say `experimental.ssrMcp`.

use super::types::{LspAny, LspNotificationMethod, MessageDirection, Notification};
use std::path::PathBuf;

/// What is kept of a folder is another now.
pub(super) enum Changed {}

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct ChangedParams {
    pub(super) folder: PathBuf,
}

impl Notification for Changed {
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::Custom("ssrMcp/changed");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ServerToClient;
    type Params = ChangedParams;
}

/// A job has ended: the job with its answer, its folder, and its end in one sentence (`said`).
pub(super) enum JobEnded {}

impl Notification for JobEnded {
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::Custom("ssrMcp/jobEnded");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ServerToClient;
    type Params = LspAny;
}
