"""The server under pytest-lsp, with what VS Code, Neovim and Emacs say they can, in each way to count characters."""

import asyncio
import copy
import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

REPO = pathlib.Path(os.environ["SSR_MCP_REPO"])
PATIENCE = 600
UNITS = {
    t.PositionEncodingKind.Utf8: lambda text: len(text.encode()),
    t.PositionEncodingKind.Utf16: lambda text: len(text.encode("utf-16-le")) // 2,
    t.PositionEncodingKind.Utf32: len,
}
# Neovim offers all three and Emacs of this profile none, which means UTF-16.
CLIENTS = [
    ("visual-studio-code", None),
    ("neovim", None),
    ("emacs", None),
    ("neovim", t.PositionEncodingKind.Utf32),
]


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[os.environ["SSR_MCP_BINARY"], "lsp"], server_env=dict(os.environ)),
    params=CLIENTS,
    ids=lambda given: given[0] + (f"-{given[1].value}" if given[1] else ""),
)
async def client(request, lsp_client: LanguageClient):
    for refresh in [t.WORKSPACE_CODE_LENS_REFRESH, t.WORKSPACE_INLAY_HINT_REFRESH]:
        lsp_client.feature(refresh)(lambda *_: None)
    name, only = request.param
    capabilities = copy.deepcopy(client_capabilities(name))
    if only:
        capabilities.general.position_encodings = [only]
    folder = t.WorkspaceFolder(uri=REPO.as_uri(), name="repo")
    lsp_client.answered = await lsp_client.initialize_session(
        t.InitializeParams(capabilities=capabilities, workspace_folders=[folder])
    )
    yield
    await lsp_client.shutdown_session()


class Document:
    """A file as the editor has it."""

    def __init__(self, client, name):
        self.client = client
        self.path = REPO / name
        self.uri = self.path.as_uri()
        self.text = self.path.read_text()
        self.version = 1
        encoding = client.answered.capabilities.position_encoding or t.PositionEncodingKind.Utf16
        self.units = UNITS[t.PositionEncodingKind(encoding)]

    def open(self, text):
        self.text = text
        item = t.TextDocumentItem(uri=self.uri, language_id="python", version=self.version, text=text)
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))

    def offset(self, position):
        lines = self.text.split("\n")
        before = sum(len(line) + 1 for line in lines[: position.line])
        if position.line >= len(lines):
            return len(self.text)
        line, column = lines[position.line], 0
        while self.units(line[:column]) < position.character:
            column += 1
        return before + column

    def position(self, offset):
        before = self.text[:offset].split("\n")
        return t.Position(len(before) - 1, self.units(before[-1]))

    def replace(self, old, new):
        """Types: one change, told with the range that it is for."""
        start = self.text.index(old)
        end = start + len(old)
        place = t.Range(self.position(start), self.position(end))
        self.text = self.text[:start] + new + self.text[end:]
        self.tell(t.TextDocumentContentChangePartial(range=place, text=new))

    def apply(self, edit):
        """What the server proposes."""
        if edit.document_changes:
            assert [change.text_document.uri for change in edit.document_changes] == [self.uri]
            assert edit.document_changes[0].text_document.version == self.version
            edits = edit.document_changes[0].edits
        else:
            assert list(edit.changes) == [self.uri]
            edits = edit.changes[self.uri]
        for one in sorted(edits, key=lambda one: self.offset(one.range.start), reverse=True):
            start, end = self.offset(one.range.start), self.offset(one.range.end)
            self.text = self.text[:start] + one.new_text + self.text[end:]
        self.tell(t.TextDocumentContentChangeWholeDocument(text=self.text))

    def tell(self, change):
        self.version += 1
        self.client.text_document_did_change(
            t.DidChangeTextDocumentParams(
                text_document=t.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version),
                content_changes=[change],
            )
        )

    async def actions(self, line):
        here = t.Position(line, 0)
        return await self.client.text_document_code_action_async(
            t.CodeActionParams(
                text_document=t.TextDocumentIdentifier(uri=self.uri),
                range=t.Range(here, here),
                context=t.CodeActionContext(diagnostics=[]),
            )
        )

    async def action(self, line, title):
        """The action once it is offered; the document is read on a thread of its own."""
        for _ in range(200):
            for action in await self.actions(line):
                if title in action.title:
                    return action
            await asyncio.sleep(0.05)
        raise AssertionError(f"{title} is not offered at line {line}")


async def execute(client, command, argument):
    params = t.ExecuteCommandParams(command=f"ssrMcp.{command}", arguments=[argument])
    return await client.workspace_execute_command_async(params)


async def play(client):
    units = client.answered.capabilities.position_encoding
    asked = client.capabilities.general and client.capabilities.general.position_encodings or []
    if t.PositionEncodingKind.Utf8 in asked:
        assert units == t.PositionEncodingKind.Utf8
    elif asked:
        assert units == asked[0]
    begun = await execute(client, "runTest", {"folder": str(REPO), "file": "tests/test_money.py"})
    assert begun["state"] == "running"
    while not client.messages:
        await client.wait_for_notification(t.WINDOW_SHOW_MESSAGE)
    assert "tests passed" in client.messages[-1].message
    if client.capabilities.window and client.capabilities.window.work_done_progress:
        reports = client.progress_reports[f"ssr-mcp-{begun['job']}"]
        assert [reports[0].kind, reports[-1].kind] == ["begin", "end"]
        assert reports[0].title == "Self-play: running tests/test_money.py"
    else:
        assert client.progress_reports == {}
    ended = await execute(client, "job", {"job": begun["job"]})
    assert (ended["state"], ended["result"]["failing"]) == ("done", [])

    [bug] = (await execute(client, "bugs", {}))["bugs"]
    artifact = bug["artifact"]
    assert artifact == os.environ["SSR_MCP_BUG"]
    [place] = bug["places"]
    document = Document(client, place["file"])
    original = document.text
    line = place["line"] - 1
    changed = original.split("\n")[line]
    # Characters of two units in UTF-16 and four in UTF-8 on the very line of the bug, which are then deleted:
    # only who counts as was agreed has the original text again, and only to that the bug fits.
    document.open(original.replace(changed, f"{changed} # 𝄞é𝄞", 1))
    titles = [action.title for action in await document.actions(line)]
    assert not any("put bug" in title for title in titles), titles
    document.replace("é𝄞", "𝄞")
    document.replace(" # 𝄞𝄞", "")
    assert document.text == original

    put = await document.action(line, f"put bug {artifact[:12]}")
    document.apply(put.edit)
    assert document.text != original
    out = await document.action(line, f"take bug {artifact[:12]} out again")
    document.apply(out.edit)
    assert document.text == original
    # And in a file that has them all over, the edit is where it was.
    document.tell(t.TextDocumentContentChangeWholeDocument(text=f"# 𝄞é𝄞\n{original}"))
    document.text = f"# 𝄞é𝄞\n{original}"
    put = await document.action(line + 1, f"put bug {artifact[:12]}")
    document.apply(put.edit)
    assert document.text.startswith("# 𝄞é𝄞\n")
    out = await document.action(line + 1, f"take bug {artifact[:12]} out again")
    document.apply(out.edit)
    assert document.text == f"# 𝄞é𝄞\n{original}"
    assert document.path.read_text() == original


@pytest.mark.asyncio
async def test_a_job_is_told_to_its_end_and_edits_fit(client: LanguageClient):
    await asyncio.wait_for(play(client), PATIENCE)
