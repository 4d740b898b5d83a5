//! The server: what it says about itself, its tools, and where a call goes.

use super::call;
use super::tool::Entry;
use super::{check_artifact, inject_bug, run_parser, score_reward, solve, workspace_status};
use crate::session::Session;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;

const INSTRUCTIONS: &str = "Self-play on the repository of the working directory: inject_bug makes a \
bug that is proven real and hidden by weakened tests (in a copy; the repository is never changed), \
check_artifact proves an artifact, solve attempts repairs, score_reward gives both roles' rewards. \
Runs take from seconds to minutes.";

#[derive(Clone)]
pub(super) struct Server {
    session: Arc<Session>,
    entries: Arc<Vec<Entry>>,
}

impl Server {
    pub(super) fn new(session: Session) -> Self {
        let entries = vec![
            inject_bug::entry(),
            check_artifact::entry(),
            solve::entry(),
            run_parser::entry(),
            score_reward::entry(),
            workspace_status::entry(),
        ];
        Self { session: Arc::new(session), entries: Arc::new(entries) }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("ssr-mcp", env!("CARGO_PKG_VERSION"))
                    .with_title("SSR self-play"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.entries.iter().map(|entry| entry.tool.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// Accepted and silent: no list ever changes by itself.
    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::default())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entries.iter().find(|entry| entry.tool.name == name).map(|entry| entry.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(index) = self.entries.iter().position(|entry| entry.tool.name == request.name)
        else {
            let text = format!("there is no tool {:?}; tools/list names them", request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let (session, entries) = (self.session.clone(), self.entries.clone());
        let arguments = request.arguments.unwrap_or_default();
        let result = call::run(context, move |job| (entries[index].run)(&session, arguments, job));
        Ok(result.await.into())
    }
}
