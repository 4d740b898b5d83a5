//! Both eras on one connection: requests that carry their protocol revision, and the handshake of the
//! revisions before 2026-07-28. Either may come at any time, the handshake's for those that carry none.
//!
//! `rmcp`'s own handshake would end the server at a notification that comes first, and refuse bare
//! requests after a handshake that follows a request with its own revision.

use rmcp::model::{
    ClientNotification, ClientRequest, ProtocolVersion, RequestMetaObject, ServerConfig,
    ServerResult, SubscriptionsListenResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;
use tokio::sync::watch;

pub(super) struct Eras<S> {
    server: S,
    /// True once nothing more comes from the client.
    ended: watch::Receiver<bool>,
}

impl<S: ServerHandler> Eras<S> {
    pub(super) fn new(server: S, ended: watch::Receiver<bool>) -> Self {
        Self { server, ended }
    }

    /// A subscription lasts until it is cancelled, and `rmcp` would wait for that where the client has
    /// left, too.
    async fn listen(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let id = context.id.clone();
        let mut ended = self.ended.clone();
        tokio::select! {
            result = Service::handle_request(&self.server, request, context) => result,
            _ = ended.wait_for(|ended| *ended) => {
                let mut result = SubscriptionsListenResult::complete(id);
                result.meta.set_server_info(Service::get_info(&self.server).server_info);
                Ok(ServerResult::SubscriptionsListenResult(result))
            }
        }
    }
}

impl<S: ServerHandler> Service<RoleServer> for Eras<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let peer = context.peer.clone();
        let mut shaken = None;
        match &request {
            ClientRequest::InitializeRequest(request) => shaken = Some(request.params.clone()),
            ClientRequest::PingRequest(_) => {}
            _ if peer.peer_info().is_none() => require(&context.meta)?,
            _ => {}
        }
        let result = match request {
            ClientRequest::SubscriptionsListenRequest(_) => self.listen(request, context).await?,
            _ => Service::handle_request(&self.server, request, context).await?,
        };
        if let (Some(mut info), ServerResult::InitializeResult(answer)) = (shaken, &result) {
            // What was agreed on, which need not be what the client asked for.
            info.protocol_version = answer.protocol_version.clone();
            peer.set_peer_info(info);
        }
        Ok(result)
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.server, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.server)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.server)
    }
}

/// Without a handshake, a request says itself what it speaks.
fn require(meta: &RequestMetaObject) -> Result<(), ErrorData> {
    let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    if missing.is_empty() {
        return Ok(());
    }
    let text = format!(
        "there was no initialize, and the request's _meta lacks {}; send one or the other",
        missing.join(" and ")
    );
    Err(ErrorData::invalid_params(text, None))
}
