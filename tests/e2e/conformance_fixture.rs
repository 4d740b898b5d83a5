//! The tools, prompts and resources that the official conformance suite asks of a server, on the
//! protocol layer of `ssr-mcp`: `cargo run --example conformance_fixture -- 127.0.0.1:PORT`. The suite
//! dictates the names and the texts; README.md beside this file says how it is run.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a fixture for tests")]
#![allow(clippy::similar_names, reason = "`content` and `context` are the protocol's words")]
#![allow(deprecated, reason = "the suite asks for what older revisions have, too")]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, CompleteRequestParams,
    CompleteResult, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, LoggingLevel, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Duration;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const SECRET: &str = "of the fixture only";

fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned()).parse()?;
    let told = |address| eprintln!("the fixture is served at http://{address}/mcp");
    ssr_mcp::mcp::serve_http_as(Fixture, address, None, Vec::new(), told)
}

#[derive(Clone)]
struct Fixture;

type Context = RequestContext<RoleServer>;
type Answers = Option<BTreeMap<String, Value>>;

/// A result or a list from its JSON.
fn of<T: DeserializeOwned>(json: Value) -> Result<T, ErrorData> {
    serde_json::from_value(json)
        .map_err(|error| ErrorData::internal_error(format!("the fixture is wrong: {error}"), None))
}

/// A result that is complete, from the rest of its JSON.
fn whole<T: DeserializeOwned>(mut json: Value) -> Result<T, ErrorData> {
    json["resultType"] = json!("complete");
    of(json)
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": name, "inputSchema": { "type": "object" } })
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn embedded(uri: &str) -> Value {
    json!({ "type": "resource", "resource": {
        "uri": uri, "mimeType": "text/plain", "text": "This is an embedded resource content." } })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn ask(message: &str, field: &str, kind: &str) -> Value {
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": {
        "type": "object", "properties": { field: { "type": kind } }, "required": [field] } } })
}

fn sample(message: &str) -> Value {
    json!({ "method": "sampling/createMessage", "params": { "maxTokens": 100, "messages": [
        { "role": "user", "content": { "type": "text", "text": message } }] } })
}

fn required(requests: &Value, state: Option<&str>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(sealed(state));
    }
    of(result)
}

fn sealed(state: &str) -> String {
    let seal = Sha256::digest(format!("{SECRET}{state}{SECRET}")).to_vec();
    format!("{state}.{seal:x?}").replace([' ', ',', '[', ']'], "")
}

fn opened(state: Option<&String>) -> Result<Option<&str>, ErrorData> {
    let Some(state) = state else { return Ok(None) };
    let inner = state.rsplit_once('.').map(|(inner, _)| inner);
    match inner.filter(|inner| sealed(inner) == *state) {
        Some(inner) => Ok(Some(inner)),
        None => Err(ErrorData::invalid_params("requestState was tampered with", None)),
    }
}

/// What the client answered under `key`, where it has the right shape.
fn answered<'a>(answers: &'a Answers, key: &str) -> Option<&'a Value> {
    answers.as_ref()?.get(key).filter(|answer| answer.is_object())
}

const TOOLS: [&str; 23] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_error_handling",
    "test_tool_with_progress",
    "test_missing_capability",
    "test_logging_tool",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

async fn plain(name: &str, context: &Context) -> Result<Value, ErrorData> {
    let content = match name {
        "test_simple_text" => return Ok(text("This is a simple text response for testing.")),
        "test_error_handling" => {
            let mut result = text("This tool intentionally returns an error for testing");
            result["isError"] = json!(true);
            return Ok(result);
        }
        "test_tool_with_progress" => {
            progress(context).await;
            return Ok(text("done"));
        }
        "test_tool_with_logging" => {
            for message in ["Tool execution started", "processing", "completed"] {
                log(context, message).await;
            }
            return Ok(text("done"));
        }
        "test_logging_tool" => return Ok(text("nothing was logged: no level was asked for")),
        "test_missing_capability" => {
            if context.client_capabilities().is_none_or(|known| known.sampling.is_none()) {
                let sampling: ClientCapabilities = of(json!({ "sampling": {} }))?;
                return Err(ErrorData::missing_required_client_capability(sampling));
            }
            return Ok(text("the capability is there"));
        }
        "test_sampling" | "test_elicitation" => return asked(name, json!({}), context).await,
        "test_elicitation_sep1034_defaults" => return asked(name, defaults(), context).await,
        "test_elicitation_sep1330_enums" => return asked(name, enums(), context).await,
        "test_image_content" => json!([image()]),
        "test_audio_content" => json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }]),
        "test_embedded_resource" => json!([embedded("test://embedded-resource")]),
        "test_multiple_content_types" => json!([
            { "type": "text", "text": "Multiple content types test:" },
            image(),
            embedded("test://mixed-content-resource"),
        ]),
        _ => return Err(ErrorData::invalid_params(format!("there is no tool {name:?}"), None)),
    };
    Ok(json!({ "content": content }))
}

/// Asks the client while the call runs, as the revisions with a handshake do.
async fn asked(name: &str, fields: Value, context: &Context) -> Result<Value, ErrorData> {
    let request = if name == "test_sampling" {
        sample("Hello")
    } else {
        let schema = json!({ "type": "object", "properties": fields });
        json!({ "method": "elicitation/create",
                "params": { "message": "Please answer", "requestedSchema": schema } })
    };
    let answer = context.peer.send_request(of(request)?).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(text(&serde_json::to_string(&answer).unwrap()))
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn enums() -> Value {
    let titled = json!([
        { "const": "value1", "title": "First" },
        { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    let plain = ["option1", "option2", "option3"];
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"],
                        "enumNames": ["One", "Two", "Three"] },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}

async fn progress(context: &Context) {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let told = ProgressNotificationParam::new(token, done).with_total(100.0);
            context.peer.notify_progress(told).await.unwrap_or_default();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn log(context: &Context, message: &str) {
    use rmcp::model::LoggingMessageNotificationParam;
    let told = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
    context.peer.notify_logging_message(told).await.unwrap_or_default();
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// The tools that ask back.
fn rounds(
    name: &str,
    answers: &Answers,
    state: Option<&str>,
    context: &Context,
) -> Result<Result<Value, InputRequiredResult>, ErrorData> {
    let name_asked = json!({ "user_name": ask("What is your name?", "name", "string") });
    let ready = |key: &str| answered(answers, key).is_some();
    Ok(match name {
        "test_input_required_result_elicitation" => {
            let given =
                answered(answers, "user_name").and_then(|given| given["content"]["name"].as_str());
            match given {
                Some(given) => Ok(text(&format!("Hello, {given}!"))),
                None => Err(required(&name_asked, None)?),
            }
        }
        "test_input_required_result_sampling" => match answered(answers, "capital_question") {
            Some(given) => Ok(text(&given["content"].to_string())),
            None => Err(required(
                &json!({ "capital_question": sample("What is the capital of France?") }),
                None,
            )?),
        },
        "test_input_required_result_list_roots" => match answered(answers, "client_roots") {
            Some(given) => Ok(text(&given["roots"].to_string())),
            None => Err(required(
                &json!({ "client_roots": { "method": "roots/list", "params": {} } }),
                None,
            )?),
        },
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            if ready("confirm") && state == Some("confirming") {
                Ok(text("state-ok"))
            } else {
                let asked = json!({ "confirm": ask("Please confirm", "ok", "boolean") });
                Err(required(&asked, Some("confirming"))?)
            }
        }
        "test_input_required_result_multiple_inputs" => {
            if ready("user_name") && ready("greeting") && ready("client_roots") {
                Ok(text("all three came"))
            } else {
                let mut asked = name_asked;
                asked["greeting"] = sample("Generate a greeting");
                asked["client_roots"] = json!({ "method": "roots/list", "params": {} });
                Err(required(&asked, Some("several"))?)
            }
        }
        "test_input_required_result_multi_round" => match state {
            Some("second") if ready("step2") => Ok(text("both steps came")),
            Some("first") if ready("step1") => {
                let asked = ask("Step 2: What is your favorite color?", "color", "string");
                Err(required(&json!({ "step2": asked }), Some("second"))?)
            }
            _ => {
                let asked = ask("Step 1: What is your name?", "name", "string");
                Err(required(&json!({ "step1": asked }), Some("first"))?)
            }
        },
        _ => {
            let known = context.client_capabilities().unwrap_or_default();
            let mut asked = json!({});
            if known.elicitation.is_some() {
                asked["user_name"] = name_asked["user_name"].clone();
            }
            if known.sampling.is_some() {
                asked["greeting"] = sample("Generate a greeting");
            }
            Err(required(&asked, None)?)
        }
    })
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities: ServerCapabilities = of(json!({
            "tools": { "listChanged": true }, "prompts": { "listChanged": true }, "logging": {},
            "resources": { "subscribe": true, "listChanged": true }, "completions": {},
        }))
        .unwrap();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("fixture", "1"))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<Value> = TOOLS.iter().map(|name| tool(name)).collect();
        whole(json!({ "tools": tools }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if !name.starts_with("test_input_required") && name != "test_streaming_elicitation" {
            return Ok(CallToolResponse::Complete(whole(plain(name, &context).await?)?));
        }
        let state = opened(request.request_state.as_ref())?;
        Ok(match rounds(name, &request.input_responses, state, &context)? {
            Ok(result) => CallToolResponse::Complete(whole(result)?),
            Err(required) => CallToolResponse::InputRequired(required),
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        whole(json!({ "resources": [
            { "uri": "test://static-text", "name": "text", "mimeType": "text/plain" },
            { "uri": "test://static-binary", "name": "binary", "mimeType": "image/png" },
        ] }))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        whole(json!({ "resourceTemplates": [
            { "uriTemplate": "test://template/{id}/data", "name": "template" },
        ] }))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri, id) {
            ("test://static-text", _) => json!({ "uri": uri, "mimeType": "text/plain",
                "text": "This is the content of the static text resource." }),
            ("test://static-binary", _) => {
                json!({ "uri": uri, "mimeType": "image/png", "blob": PNG })
            }
            (_, Some(id)) => json!({ "uri": uri, "mimeType": "application/json",
                "text": json!({ "id": id, "templateTest": true, "data": id }).to_string() }),
            _ => {
                let text = format!("there is no resource {uri}");
                return Err(ErrorData::resource_not_found(text, Some(json!({ "uri": uri }))));
            }
        };
        let result: ReadResourceResult = whole(json!({ "contents": [content] }))?;
        Ok(result.into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        whole(json!({ "prompts": [
            { "name": "test_simple_prompt", "description": "simple" },
            { "name": "test_prompt_with_arguments", "description": "two arguments", "arguments": [
                { "name": "arg1", "description": "first", "required": true },
                { "name": "arg2", "description": "second", "required": true }] },
            { "name": "test_prompt_with_embedded_resource", "description": "a resource", "arguments": [
                { "name": "resourceUri", "description": "which", "required": true }] },
            { "name": "test_prompt_with_image", "description": "an image" },
            { "name": "test_input_required_result_prompt", "description": "asks back" },
        ] }))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let said = |text: &str| json!({ "type": "text", "text": text });
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => vec![said(&format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))],
            "test_prompt_with_embedded_resource" => {
                vec![embedded(argument("resourceUri")), said("Please process it.")]
            }
            "test_prompt_with_image" => vec![image(), said("Please analyze it.")],
            "test_input_required_result_prompt" => {
                if answered(&request.input_responses, "user_context").is_none() {
                    let asked = ask("What context should the prompt use?", "context", "string");
                    let required = required(&json!({ "user_context": asked }), None)?;
                    return Ok(GetPromptResponse::InputRequired(required));
                }
                vec![said("The context came.")]
            }
            name => {
                return Err(ErrorData::invalid_params(
                    format!("there is no prompt {name:?}"),
                    None,
                ));
            }
        };
        let messages: Vec<Value> = contents
            .into_iter()
            .map(|content| json!({ "role": "user", "content": content }))
            .collect();
        Ok(GetPromptResponse::Complete(whole(json!({ "messages": messages }))?))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        whole(
            json!({ "completion": { "values": ["paris", "park"], "total": 2, "hasMore": false } }),
        )
    }
}
