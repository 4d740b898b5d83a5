//! The server: what it says about itself, its tools, and where a call goes.

use super::call;
use super::tool::Entry;
use super::{
    apply, check_artifact, grade_patch, inject_bug, job, play_bash, play_begin, play_create,
    play_edit, play_read, play_submit, practice_check, practice_hint, practice_reveal,
    practice_run, practice_start, practice_status, prompts, replay_bug, resources, run_parser,
    score_reward, solve, train_step, unnoticed_edits, workspace_status, wrong_book,
};
use crate::config::ToolGroup;
use crate::session::{Error, INSTRUCTIONS, Session};
use rmcp::model::{
    ArgumentInfo, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Server {
    session: Arc<Session>,
    entries: Arc<Vec<Entry>>,
    /// The tool `job`, which knows the others: it begins their interrupted jobs again.
    job: Arc<Entry>,
    /// Signs what a client is to bring back with a person's answer.
    codec: Arc<RequestStateCodec>,
}

/// With a key of this process: a question does not outlive it.
fn codec() -> anyhow::Result<RequestStateCodec> {
    let mut key = [0; 32];
    let got = rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())?;
    anyhow::ensure!(got == key.len(), "the system gave too few random bytes");
    Ok(RequestStateCodec::try_new(key)?)
}

impl Server {
    pub(super) fn new(session: Session) -> anyhow::Result<Self> {
        let groups = [
            (
                ToolGroup::Core,
                vec![
                    inject_bug::entry(),
                    check_artifact::entry(),
                    solve::entry(),
                    grade_patch::entry(),
                    run_parser::entry(),
                    score_reward::entry(),
                    train_step::entry(),
                    workspace_status::entry(),
                ],
            ),
            (
                ToolGroup::Play,
                vec![
                    play_begin::entry(),
                    play_bash::entry(),
                    play_read::entry(),
                    play_edit::entry(),
                    play_create::entry(),
                    play_submit::entry(),
                ],
            ),
            (
                ToolGroup::Practice,
                vec![
                    practice_start::entry(),
                    practice_status::entry(),
                    practice_run::entry(),
                    practice_check::entry(),
                    practice_hint::entry(),
                    practice_reveal::entry(),
                    wrong_book::entry(),
                    replay_bug::entry(),
                    unnoticed_edits::entry(),
                    apply::entry(),
                ],
            ),
        ];
        let offered = &session.config().tools;
        let chosen = groups.into_iter().filter(|(group, _)| offered.contains(group));
        let entries: Vec<Entry> = chosen.flat_map(|(_, entries)| entries).collect();
        let entries = Arc::new(entries);
        let job = Arc::new(job::entry(Arc::clone(&entries)));
        Ok(Self { session: Arc::new(session), entries, job, codec: Arc::new(codec()?) })
    }
}

impl Server {
    fn entry(&self, name: &str) -> Option<&Entry> {
        self.all().find(|entry| entry.tool.name == name)
    }

    /// Reads what is kept; what cannot be read is the caller's to correct.
    async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Session) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let session = Arc::clone(&self.session);
        let read = tokio::task::spawn_blocking(move || read(&session)).await;
        let fault =
            || Error::Usage("ssr-mcp has a fault here; its standard error says more".into());
        read.unwrap_or_else(|_| Err(fault()))
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
    }

    fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().chain([&*self.job])
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
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
        let tools = self.all().map(|entry| entry.tool.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// Accepted and silent: no list ever changes by itself.
    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::default())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entry(name).map(|entry| entry.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.entry(&request.name).is_none() {
            let text = format!("there is no tool {:?}; tools/list names them", request.name);
            return Err(ErrorData::invalid_params(text, None));
        }
        if request.name == apply::NAME && self.entry(apply::NAME).is_some() {
            let session = Arc::clone(&self.session);
            return Ok(apply::call(session, &self.codec, request, &context).await);
        }
        let server = self.clone();
        let result = call::run(context, move |job| {
            let arguments = request.arguments.unwrap_or_default();
            let entry =
                server.entry(&request.name).ok_or_else(|| Error::Usage("no such tool".into()))?;
            entry.call(&server.session, arguments, job)
        });
        Ok(result.await.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.reading(resources::list).await?;
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.reading(move |session| resources::read(session, &request.uri)).await?;
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let given = request.arguments.unwrap_or_default();
        let given = given.into_iter().map(|(name, value)| (name, text(value))).collect();
        let prompt = prompts::get(&request.name, &given, &self.session.config().tools);
        prompt.map(Into::into).map_err(|why| ErrorData::invalid_params(why, None))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let ArgumentInfo { name, value, .. } = request.argument;
        let values =
            self.reading(move |session| resources::complete(session, &name, &value)).await?;
        let info = CompletionInfo::new(values);
        info.map(CompleteResult::new).map_err(|why| ErrorData::internal_error(why, None))
    }
}
