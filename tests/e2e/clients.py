"""Drives coding agents, headless, through a whole play: a bug is injected, waited for, repaired, graded.

    python3 tests/e2e/clients.py SSR_MCP NAME=PROGRAM ...

SSR_MCP: the program under test. NAME: claude-code, codex, gemini or cline, with the program to start. The model is
a scripted stand-in on the loopback interface, which answers each client's API as far as the client needs it;
nothing is asked of any other machine, and no account is used. Exit status 0: every play was graded as solved, and
no repository was changed.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/ledger")
PATIENCE = 300


def finished(answer):
    """Calls `job` until the work of the last answer has ended; its answer."""
    while answer.get("state") == "running":
        answer = yield "job", {"job": answer["job"]}
    assert answer.get("state") == "done", answer
    return answer["result"]


def player():
    """The model: yields calls, is sent their answers. It knows the bug of seed 3: this shows the way to a
    grade, not how a bug is found."""
    begun = yield "inject_bug", {"seed": 3, "strategy": "direct"}
    bug = yield from finished(begun)
    assert bug["valid"], bug
    begun = yield "play_begin", {"role": "solver", "artifact_id": bug["artifact"]}
    play = yield from finished(begun)
    assert "diff" in play["task"], play
    told = yield "play_bash", {"play": play["play"], "command": "grep -n 8 ledger/budget.py"}
    line = [line for line in told["output"].splitlines() if line.startswith("48:")][0]
    text = line.split(":", 1)[1]
    yield "play_edit", {"play": play["play"], "path": "ledger/budget.py", "search": text,
                        "replace": text.replace("8", "7")}
    submitted = yield "play_submit", {"play": play["play"]}
    return (yield from finished(submitted))


def answer_in(text):
    """The tool's answer in what a client made of it: the first JSON object, without what it is wrapped in."""
    value, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    while isinstance(value, dict) and not {"state", "budget", "entries"} & set(value):
        inner = value.get("structuredContent") or value.get("output") or value.get("result") or value.get("content")
        if isinstance(inner, list):
            inner = "".join(block.get("text", "") for block in inner)
        if isinstance(inner, str):
            return answer_in(inner)
        if not isinstance(inner, dict):
            break
        value = inner
    return value


class Model:
    def __init__(self):
        self.game = player()
        self.call = next(self.game)
        self.calls = [self.call[0]]
        self.seen = 0
        self.graded = self.trouble = None

    def turn(self, names, results):
        """What to do where the client offers tools of these names and has had these results: a tool's name
        among them with its arguments, or None."""
        offered = [name for name in names if name.endswith("inject_bug")]
        if not offered or self.graded or self.trouble:
            return None
        if len(results) > self.seen:
            self.seen = len(results)
            try:
                self.call = self.game.send(answer_in(results[-1]))
                self.calls.append(self.call[0])
            except StopIteration as end:
                self.graded = end.value
                return None
            except Exception as error:
                self.trouble = "%r of %s" % (error, results[-1][:2000])
                return None
        return [name for name in names if name.endswith(self.call[0])][0], self.call[1]


def text_of(content):
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if isinstance(block, dict))


def messages(model, request):
    """The Messages API."""
    blocks = [block for message in request.get("messages", []) if isinstance(message.get("content"), list)
              for block in message["content"]]
    results = [text_of(block.get("content") or "") for block in blocks if block.get("type") == "tool_result"]
    act = model.turn([tool.get("name", "") for tool in request.get("tools", [])], results)
    if act:
        block = {"type": "tool_use", "id": "toolu_%d" % model.seen, "name": act[0], "input": act[1]}
        begun, delta = dict(block, input={}), {"type": "input_json_delta", "partial_json": json.dumps(act[1])}
    else:
        block = {"type": "text", "text": "done"}
        begun, delta = dict(block, text=""), {"type": "text_delta", "text": "done"}
    stop = "tool_use" if act else "end_turn"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model", "none"),
               "content": [], "stop_reason": None, "stop_sequence": None,
               "usage": {"input_tokens": 1, "output_tokens": 1}}
    if not request.get("stream"):
        return dict(message, content=[block], stop_reason=stop), None
    return None, named([
        ("message_start", {"message": message}), ("content_block_start", {"index": 0, "content_block": begun}),
        ("content_block_delta", {"index": 0, "delta": delta}), ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 1}}),
        ("message_stop", {})])


def responses(model, request):
    """The Responses API, with tools in namespaces."""
    names = {}
    for tool in request.get("tools", []):
        for inner in tool.get("tools", []) if tool.get("type") == "namespace" else [tool]:
            names[inner.get("name") or ""] = tool.get("name") if tool.get("type") == "namespace" else None
    outputs = [item.get("output") for item in request.get("input", []) if item.get("type") == "function_call_output"]
    act = model.turn(list(names), [text_of(output) for output in outputs])
    if act:
        item = {"type": "function_call", "id": "fc_%d" % model.seen, "call_id": "call_%d" % model.seen,
                "name": act[0], "arguments": json.dumps(act[1]), "status": "completed"}
        if names[act[0]]:
            item["namespace"] = names[act[0]]
    else:
        item = {"type": "message", "id": "msg_%d" % model.seen, "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "done", "annotations": []}]}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}
    return None, named([
        ("response.created", {"response": {"id": "resp_1"}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": {"id": "resp_1", "usage": usage}})])


def completions(model, request):
    """The Chat Completions API."""
    names = [tool["function"]["name"] for tool in request.get("tools", []) if tool.get("function")]
    results = [text_of(m.get("content") or "") for m in request.get("messages", []) if m.get("role") == "tool"]
    act = model.turn(names, results)
    delta = {"role": "assistant", "content": "done"}
    if act:
        function = {"name": act[0], "arguments": json.dumps(act[1])}
        delta = {"role": "assistant", "tool_calls": [
            {"index": 0, "id": "call_%d" % model.seen, "type": "function", "function": function}]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "none", "usage": usage}
    choices = [{"index": 0, "delta": delta, "finish_reason": None},
               {"index": 0, "delta": {}, "finish_reason": "tool_calls" if act else "stop"}]
    lines = ["data: %s\n\n" % json.dumps(dict(chunk, choices=[choice])) for choice in choices]
    return None, lines + ["data: [DONE]\n\n"]


def contents(model, request):
    """Gemini's API, streamed."""
    names = [each["name"] for tool in request.get("tools", []) for each in tool.get("functionDeclarations", [])]
    parts = [part for content in request.get("contents", []) for part in content.get("parts", [])]
    results = [json.dumps(part["functionResponse"].get("response")) for part in parts if "functionResponse" in part]
    act = model.turn(names, results)
    part = {"functionCall": {"name": act[0], "args": act[1], "id": "fc%d" % model.seen}} if act else {"text": "done"}
    reply = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
             "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
             "modelVersion": "none"}
    return reply, ["data: %s\r\n\r\n" % json.dumps(reply)]


def named(events):
    return ["event: %s\ndata: %s\n\n" % (kind, json.dumps(dict(value, type=kind))) for kind, value in events]


def api(model):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_HEAD(self):
            self.answer({})

        def do_GET(self):
            self.answer({"object": "list", "data": [{"id": "none", "object": "model"}], "models": []})

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = json.loads(body or b"{}")
            whole, streamed = {"input_tokens": len(body) // 4}, None
            if self.path.endswith("/responses"):
                whole, streamed = responses(model, request)
            elif self.path.endswith("/chat/completions"):
                whole, streamed = completions(model, request)
            elif "enerateContent" in self.path:
                whole, streamed = contents(model, request)
                streamed = streamed if "stream" in self.path else None
            elif "/messages" in self.path and "count_tokens" not in self.path:
                whole, streamed = messages(model, request)
            if streamed is None:
                return self.answer(whole)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write("".join(streamed).encode())
            self.close_connection = True

    return Handler


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def claude_code(program, ssr_mcp, home, url):
    server = {"type": "stdio", "command": ssr_mcp, "args": ["mcp"]}
    write(home + "/mcp.json", json.dumps({"mcpServers": {"ssr": server}}))
    environment = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": url, "ENABLE_TOOL_SEARCH": "false",
                   "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    return [[program, "-p", "Play the game with your tools.", "--mcp-config", home + "/mcp.json", "--strict-mcp-config", "--allowedTools",
             "mcp__ssr"]], environment


def codex(program, ssr_mcp, home, url):
    write(home + "/.codex/config.toml", """
model = "none"
model_provider = "stand-in"
[model_providers.stand-in]
name = "stand-in"
base_url = "%s/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"
[mcp_servers.ssr]
command = "%s"
args = ["mcp"]
default_tools_approval_mode = "approve"
""" % (url, ssr_mcp))
    environment = {"CODEX_HOME": home + "/.codex", "STAND_IN_KEY": "none"}
    return [[program, "exec", "--skip-git-repo-check", "Play the game with your tools."]], environment


def gemini(program, ssr_mcp, home, url):
    server = {"command": ssr_mcp, "args": ["mcp"], "trust": True}
    settings = {"mcpServers": {"ssr": server}, "security": {"auth": {"selectedType": "gemini-api-key"}},
                "telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False}}
    write(home + "/.gemini/settings.json", json.dumps(settings))
    environment = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return [[program, "-m", "gemini-2.5-pro", "--yolo", "-p", "Play the game with your tools."]], environment


def cline(program, ssr_mcp, home, url):
    transport = {"type": "stdio", "command": ssr_mcp, "args": ["mcp"]}
    write(home + "/.cline/data/settings/cline_mcp_settings.json",
          json.dumps({"mcpServers": {"ssr": {"transport": transport}}}))
    sign_in = [program, "auth", "-p", "openai-compatible", "-k", "none", "-m", "none", "-b", url + "/v1"]
    return [sign_in, [program, "-P", "openai-compatible", "Play the game with your tools."]], {}


CLIENTS = {"claude-code": claude_code, "codex": codex, "gemini": gemini, "cline": cline}


def end_those_of(place):
    """Ends what a client left running: processes that know the directory, which is only ours."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                if place.encode() in file.read():
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def play(name, program, ssr_mcp):
    model = Model()
    server = ThreadingHTTPServer(("127.0.0.1", 0), api(model))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said = ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        repository, home = place + "/repo", place + "/home"
        shutil.copytree(EXAMPLE, repository)
        os.mkdir(home)
        url = "http://127.0.0.1:%d" % server.server_port
        commands, environment = CLIENTS[name](program, ssr_mcp, home, url)
        environment.update(HOME=home, PATH=os.environ["PATH"], no_proxy="127.0.0.1")
        try:
            for command in commands:
                run = subprocess.run(command, cwd=repository, env=environment, timeout=PATIENCE, text=True,
                                     stdin=subprocess.DEVNULL, capture_output=True)
                said += run.stdout[-1500:] + run.stderr[-1500:]
        except subprocess.TimeoutExpired:
            said += "it did not end in %d s" % PATIENCE
        end_those_of(place)
        changed = subprocess.run(["diff", "-r", EXAMPLE, repository], capture_output=True, text=True).stdout
    server.shutdown()
    solved = bool(model.graded) and model.graded["solved"] and model.graded["reward"] == 1 and not changed
    print("%s: %s; calls: %s" % (name, "solved" if solved else "NOT SOLVED", " ".join(model.calls)))
    if not solved:
        print(model.graded, model.trouble, changed, said, sep="\n")
    return solved


def main():
    ssr_mcp = os.path.abspath(sys.argv[1])
    named = [argument.split("=", 1) for argument in sys.argv[2:]]
    return 0 if all([play(name, os.path.abspath(program), ssr_mcp) for name, program in named]) else 1


if __name__ == "__main__":
    sys.exit(main())
