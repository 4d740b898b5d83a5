// What has to hold in the extension host: actions, lenses, a bug, a whole round of practice, and the MCP server.
// `run.mjs` does what belongs to the browser; the two talk through files in SSR_MCP_TALK.

const vscode = require('vscode');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');

const talk = process.env.SSR_MCP_TALK;
const original = process.env.SSR_MCP_ORIGINAL;
const SEED = 5;
/** A test run of `ledger` is 2 s; machines that are busy take much longer. */
const PATIENCE = 180_000;

exports.run = async () => {
  try {
    await suite();
    say('end', { ok: true });
  } catch (error) {
    say('end', { ok: false, text: String(error?.stack ?? error) });
    throw error;
  }
};

async function suite() {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const extension = vscode.extensions.getExtension('ssr-mcp.ssr-mcp');
  const { server, folders } = await extension.activate();
  const ends = [];
  server.onJobEnded((line) => ends.push(line));
  const ended = (tool) => until(() => ends.find((line) => line.tool === tool), `the end of ${tool}`).then((line) => ends.splice(ends.indexOf(line), 1)[0]);
  assert(!server.isRunning(), 'nothing is started before there is something to show');
  await vscode.commands.executeCommand('workbench.action.closeAuxiliaryBar');
  await ask('widen');
  await trust(server);
  const code = await open(path.join(folder, 'ledger/money.py'));
  await until(() => server.isRunning(), 'the server');
  await step(`VS Code ${vscode.version} runs ssr-mcp ${server.binary.version}`);

  const at = place(code, 'def share');
  const actions = await until(async () => {
    const found = await actionsAt(code, at);
    return found.some(({ title }) => title.startsWith('Self-play: inject a bug into')) && found;
  }, 'code actions');
  for (const wanted of ['inject a bug into this file', 'inject a bug into this workspace', 'take a training step']) {
    assert(actions.some(({ title }) => title === `Self-play: ${wanted}`), wanted);
  }
  await step(`${actions.length} code actions on a function`);
  select(at);
  await pause();
  await vscode.commands.executeCommand('editor.action.quickFix');
  await pause(1500);
  await shot('lightbulb');
  await ask('keys', { keys: ['Escape'] });

  const tests = await open(path.join(folder, 'tests/test_money.py'));
  const lenses = await until(async () => {
    const found = await vscode.commands.executeCommand('vscode.executeCodeLensProvider', tests.uri, 50);
    return found?.some(({ command }) => command?.title === 'Self-play: run') && found;
  }, 'lenses');
  await step(`${lenses.length} code lenses on a test file`);

  const inject = actions.find(({ title }) => title.startsWith('Self-play: inject a bug into') && !title.includes('this'));
  await vscode.commands.executeCommand(inject.command.command, { ...inject.command.arguments[0], seed: SEED });
  const { result: injected } = await ended('inject_bug');
  assert.equal(injected.valid, true);
  const bug = await until(() => folders.known[0]?.bugs.find(({ artifact }) => artifact === injected.artifact), 'the bug in the view');
  await step(`injected bug ${bug.artifact.slice(0, 12)} into ${bug.files.join(', ')}`);

  const { uri } = await server.ask('show', { folder, artifact: bug.artifact, part: 'bug' });
  const shown = await until(() => vscode.workspace.textDocuments.find((document) => document.uri.scheme === 'ssr-mcp'), 'the diff');
  assert.match(shown.getText(), /^diff --git /);
  assert.equal(shown.languageId, 'diff');
  await step(`the bug is shown as ${uri.slice(0, 28)}…`);
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');

  await put(code, bug);
  await step('the bug goes into the editor and out again by edits; a diagnostic names its test');

  await practise(folder, server, folders, ended);
  await unchanged(folder);
  await step('the repository is as it was');
  await mcp();
}

/** Trusts the workspace, in which nothing was started before. */
async function trust(server) {
  if (!vscode.workspace.isTrusted) {
    await assert.rejects(server.ask('bugs'), /until you trust/);
    await vscode.commands.executeCommand('workbench.trust.manage');
    await pause(1000);
    await ask('click', { selector: '.workspace-trust-buttons-row .monaco-button >> text=/^Trust$/' });
    await until(() => vscode.workspace.isTrusted, 'trust in the workspace', 30_000);
    await step('nothing is started in a workspace that is not trusted');
  }
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}

/** Puts the bug into the open text by its action, sees the diagnostic, and takes it out. */
async function put(code, bug) {
  const document = await open(code.uri.fsPath);
  const before = document.getText();
  const all = async () => (await Promise.all([...Array(document.lineCount).keys()].map((line) => actionsAt(document, new vscode.Position(line, 0))))).flat();
  const into = await until(async () => (await all()).find(({ title }) => title.startsWith('Self-play: put bug')), 'the action that puts a bug in');
  assert(await vscode.workspace.applyEdit(into.edit));
  assert.notEqual(document.getText(), before);
  const test = await open(path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, bug.weakened[0]));
  const found = await until(() => vscode.languages.getDiagnostics(test.uri).find(({ source }) => source === 'ssr-mcp'), 'a diagnostic');
  assert.equal(found.severity, vscode.DiagnosticSeverity.Information);
  const out = await until(async () => (await all()).find(({ title }) => title.startsWith('Self-play: take bug')), 'the action that takes it out');
  assert(await vscode.workspace.applyEdit(out.edit));
  assert.equal(document.getText(), before);
  await vscode.commands.executeCommand('workbench.action.files.revert');
}

async function practise(folder, server, folders, ended) {
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  await vscode.commands.executeCommand('ssrMcp.practise', { folder, pick: 'new', target: 'ledger/periods.py', seed: SEED });
  const { result: begun } = await ended('practice_start');
  const round = await until(() => folders.rounds()[0]?.round, 'the round');
  assert.equal(round.practice, begun.practice);
  await until(() => vscode.workspace.workspaceFolders.some(({ uri }) => uri.fsPath === round.tree), 'the practice tree in the workspace');
  await until(() => vscode.window.activeTextEditor?.document.uri.fsPath.startsWith(round.tree), 'the broken test in the editor');
  await step(`practice: ${round.broken[0].text}`);
  await vscode.commands.executeCommand('workbench.view.extension.ssrMcp');
  await vscode.commands.executeCommand('ssrMcp.practice.focus');
  await clear();
  await pause(1500);
  await shot('practice');

  await vscode.commands.executeCommand('ssrMcp.ui.practiceRun');
  const { result: red } = await ended('practice_run');
  assert.equal(red.green, false);
  assert(red.failing.length > 0);
  await step(`the visible tests fail: ${red.failing[0]}`);
  await vscode.commands.executeCommand('ssrMcp.ui.practiceCheck');
  const { result: nothing } = await ended('practice_check');
  assert.deepEqual([nothing.solved, nothing.code], [false, 'no_patch']);
  await step(`an unchanged tree is no repair: ${nothing.reason}`);
  await clear();

  void vscode.commands.executeCommand('ssrMcp.ui.practiceHint');
  await until(() => folders.rounds()[0]?.round.hints.length === 1, 'the hint');
  await step(`a hint: ${folders.rounds()[0].round.hints[0].text}`);

  void vscode.commands.executeCommand('testing.runAll');
  const { result: tested } = await ended('practice_run');
  assert.deepEqual(tested.failing, red.failing);
  await pause(1500);
  await vscode.commands.executeCommand('workbench.view.testing.focus');
  await clear();
  await pause(1000);
  await shot('testing');
  await step('the Testing view runs them');
  await vscode.commands.executeCommand('workbench.action.closePanel');

  // What a person does: makes the code of the tree right. This one knows it by heart.
  const fixed = [];
  for (const file of fs.readdirSync(path.join(round.tree, 'ledger')).filter((name) => name.endsWith('.py'))) {
    const right = fs.readFileSync(path.join(original, 'ledger', file), 'utf8');
    const document = await vscode.workspace.openTextDocument(path.join(round.tree, 'ledger', file));
    if (document.getText() === right) continue;
    await vscode.window.showTextDocument(document);
    await clear();
    await vscode.commands.executeCommand('ssrMcp.practice.focus');
    await pause();
    await shot('round');
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), right);
    assert(await vscode.workspace.applyEdit(edit));
    fixed.push(file);
  }
  assert(fixed.length > 0);
  // Nothing is saved yet: the command does that.
  await vscode.commands.executeCommand('ssrMcp.ui.practiceRun');
  const { result: green } = await ended('practice_run');
  assert.equal(green.green, true);
  await step(`${fixed.join(', ')} repaired in the tree: the visible tests pass`);
  await clear();

  await vscode.commands.executeCommand('ssrMcp.ui.practiceCheck');
  const { result: check } = await ended('practice_check');
  assert.equal(check.solved, true);
  assert(check.rating.rating > check.rating_before.rating);
  await step(`checked: solved, ${check.rating_before.text} → ${check.rating.text}`);
  await pause(2500);
  await shot('solved');
  await clear();

  await until(() => folders.rounds().length === 0, 'the end of the round');
  await vscode.commands.executeCommand('ssrMcp.ui.practiceReveal', { folder, practice: round.practice });
  const answer = await until(() => vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'ssr-mcp-answer'), 'the answer');
  assert.match(answer.getText(), /^# Solved: bug /);
  assert.match(answer.getText(), /diff --git /);
  await step('the bug is revealed');
  await pause(1500);
  await shot('reveal');

  const ratings = await server.ask('ratings', { folder });
  assert.deepEqual([ratings.solved, ratings.series.length], [1, 1]);
  await step(`ratings: ${ratings.rating.text}`);
  if (process.env.SSR_MCP_MORE) await more(folder, server, folders, ended);
}

/** More rounds, so that there is something to be drawn. */
async function more(folder, server, folders, ended) {
  for (let number = 1; number <= Number(process.env.SSR_MCP_MORE); number++) {
    await vscode.commands.executeCommand('ssrMcp.practise', { folder, pick: 'new', seed: SEED + number });
    const { state, result } = await ended('practice_start');
    if (state !== 'done') continue;
    const { practice, tree } = result;
    await pause(500);
    if (number % 3 === 0) {
      // By the server's own command: ours asks back first.
      await server.ask('practiceGiveUp', { folder, practice });
    } else {
      for (const file of fs.readdirSync(path.join(original, 'ledger')).filter((name) => name.endsWith('.py'))) {
        fs.copyFileSync(path.join(original, 'ledger', file), path.join(tree, 'ledger', file));
      }
      await vscode.commands.executeCommand('ssrMcp.ui.practiceCheck', { folder, practice });
      await ended('practice_check');
    }
  }
  await until(() => folders.rounds().length === 0, 'the end of the rounds');
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  await open(path.join(folder, 'tests/test_money.py'));
  await vscode.commands.executeCommand('ssrMcp.ratings.focus');
  await clear();
  await pause(2500);
  await shot('ratings');
  await ask('theme', { theme: 'dark' });
  await vscode.workspace.getConfiguration('workbench').update('colorTheme', 'Default Dark Modern', vscode.ConfigurationTarget.Global);
  await pause(3000);
  await shot('ratings-dark');
}

/** The editor's agent reaches the MCP server that the extension offers. */
async function mcp() {
  const tool = await until(async () => {
    const start = vscode.commands.executeCommand('workbench.mcp.startServer', 'ssr-mcp.ssr-mcp/ssr-mcp', { waitForLiveTools: true });
    await Promise.race([start, pause(10_000)]);
    return vscode.lm.tools.find(({ name }) => /ssr.*workspace_status$/.test(name));
  }, 'the tools of the MCP server');
  const all = vscode.lm.tools.filter(({ name }) => /ssr/.test(name));
  const token = new vscode.CancellationTokenSource().token;
  const answer = await Promise.race([vscode.lm.invokeTool(tool.name, { input: {}, toolInvocationToken: undefined }, token), pause(30_000)]);
  assert(answer, `${tool.name} did not answer`);
  const text = answer.content.map((part) => part.value ?? '').join('');
  assert.match(text, /unittest|workspace/);
  await step(`lm.invokeTool: ${all.length} tools; ${tool.name} answers ${text.slice(0, 60)}…`);
}

async function unchanged(folder) {
  for (const at of ['ledger', 'tests']) {
    for (const file of fs.readdirSync(path.join(original, at))) {
      const [one, other] = [original, folder].map((root) => path.join(root, at, file));
      if (fs.statSync(one).isFile()) assert.deepEqual(fs.readFileSync(one), fs.readFileSync(other), file);
    }
    assert.deepEqual(names(path.join(folder, at)), names(path.join(original, at)));
  }
}

const names = (folder) => fs.readdirSync(folder).filter((name) => name !== '__pycache__').sort();

async function open(file) {
  const document = await vscode.workspace.openTextDocument(file);
  await vscode.window.showTextDocument(document, { preview: false });
  return document;
}

function place(document, text) {
  const offset = document.getText().indexOf(text);
  assert(offset >= 0, text);
  return document.positionAt(offset + text.indexOf(' ') + 1);
}

function select(position) {
  const editor = vscode.window.activeTextEditor;
  editor.selection = new vscode.Selection(position, position);
  editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.AtTop);
}

const actionsAt = (document, position) => vscode.commands.executeCommand('vscode.executeCodeActionProvider', document.uri, new vscode.Range(position, position));
const clear = () => vscode.commands.executeCommand('notifications.clearAll');
const pause = (millis = 600) => new Promise((done) => setTimeout(done, millis));
const step = (text) => ask('step', { text });
const shot = (name, selector) => ask('shot', { name, selector });

async function until(find, what, patience = PATIENCE) {
  const end = Date.now() + patience;
  let last;
  while (Date.now() < end) {
    try {
      const found = await find();
      if (found) return found;
    } catch (error) {
      last = error;
    }
    await pause(150);
  }
  throw new Error(`waited in vain for ${what}${last ? `: ${last.message}` : ''}`);
}

let asked = 0;

function say(kind, more) {
  const file = path.join(talk, `${asked++}.json`);
  fs.writeFileSync(`${file}.part`, JSON.stringify({ kind, ...more }));
  fs.renameSync(`${file}.part`, file);
  return file;
}

async function ask(kind, more) {
  const file = say(kind, more);
  while (!fs.existsSync(`${file}.done`)) await pause(50);
}
