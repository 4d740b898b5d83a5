//! `proxy`: another program's conversations with a model, passed on and recorded.

use super::record::{Record, now};
use super::{Error, Job, Repository, Session};
use crate::config::{ModelFlags, Player};
use crate::model::{self, Recording};
use std::net::SocketAddr;

/// What is passed on, and where to.
#[derive(Clone, Debug)]
pub struct ProxyRequest {
    /// Its settings are used, and its state directory keeps what is recorded.
    pub repository: Repository,
    /// Whose model and provider.
    pub player: Player,
    /// `MODEL` or `MODEL@PROVIDER` instead of what is set up.
    pub model: Option<String>,
    /// Of loopback; port 0 is a free one.
    pub address: SocketAddr,
}

impl Session {
    /// Serves until the job is cancelled. `told` is given the address that was taken.
    pub fn proxy(
        &self,
        request: &ProxyRequest,
        told: impl FnOnce(SocketAddr, &str),
        job: &Job,
    ) -> Result<(), Error> {
        let workspace = self.workspace(&request.repository)?;
        let models = request.model.iter().map(|model| (request.player, model.clone())).collect();
        let models = self.models_at(&workspace.root, &ModelFlags { models })?;
        let role = self.role_player(&models, request.player)?;
        let record = Record::open(&workspace)?;
        let recording = Recording::new(record.store, now);
        let url = role.client.url();
        let prefix = format!("proxy-{:x}-{:x}", now(), std::process::id());
        let told = |address| told(address, &url);
        model::serve_proxy(role.client, recording, request.address, prefix, told, &job.cancel)
            .map_err(|error| match error {
                model::Error::Setup { .. } => Error::usage(error.to_string()),
                other => other.into(),
            })
    }
}
