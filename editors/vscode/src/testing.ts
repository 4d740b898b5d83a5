// The Testing view: the tests of open rounds, and those that notice a bug. They are run by the server, in its sandbox.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { type JobLine, type PracticeRun, type RunTests, short } from './answers';
import type { Folders } from './folders';
import { saveIn } from './practice_tree';
import type { Server } from './server';
import { sentence } from './shown';

/** What an item at the top stands for. */
type Root = { of: 'round'; folder: string; practice: string; tree: string } | { of: 'bug'; folder: string; artifact: string };

export class Testing implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController('ssrMcp', 'Self-play');
  private readonly shown = new vscode.EventEmitter<void>();
  private readonly roots = new Map<string, Root>();

  /** Somebody looks at the tests. */
  readonly onShown = this.shown.event;

  constructor(
    private readonly server: Server,
    private readonly folders: Folders,
  ) {
    const run = (request: vscode.TestRunRequest, token: vscode.CancellationToken) => this.run(request, token);
    this.controller.createRunProfile('Run in the sandbox', vscode.TestRunProfileKind.Run, run, true);
    this.controller.resolveHandler = (item) => {
      if (!item) this.shown.fire();
    };
    this.controller.refreshHandler = () => this.folders.refresh();
  }

  dispose(): void {
    this.controller.dispose();
    this.shown.dispose();
  }

  refresh(): void {
    const seen = new Set<string>();
    for (const { folder, bugs, open } of this.folders.known) {
      for (const round of open) {
        const id = `round ${round.practice}`;
        seen.add(id);
        const item = this.root(id, `Practice round ${round.practice.slice(0, 8)}`, { of: 'round', folder, practice: round.practice, tree: round.tree });
        for (const { file, test, line } of round.broken) {
          const name = `${file}::${test ?? line}`;
          if (item.children.get(name)) continue;
          const child = this.controller.createTestItem(name, test ?? `line ${line}`, vscode.Uri.file(path.join(round.tree, file)));
          child.range = new vscode.Range(line - 1, 0, line - 1, 0);
          child.description = file;
          item.children.add(child);
        }
      }
      for (const bug of bugs.filter(({ hidden }) => !hidden)) {
        const id = `bug ${bug.artifact}`;
        seen.add(id);
        const item = this.root(id, `Tests that notice bug ${short(bug.artifact)}`, { of: 'bug', folder, artifact: bug.artifact });
        for (const test of bug.failing) {
          if (item.children.get(test)) continue;
          const file = bug.weakened.find((file) => test.startsWith(file));
          const uri = file ? vscode.Uri.file(path.join(folder, file)) : undefined;
          item.children.add(this.controller.createTestItem(test, test, uri));
        }
      }
    }
    for (const id of [...this.roots.keys()].filter((id) => !seen.has(id))) {
      this.roots.delete(id);
      this.controller.items.delete(id);
    }
  }

  private root(id: string, label: string, root: Root): vscode.TestItem {
    this.roots.set(id, root);
    const found = this.controller.items.get(id);
    if (found) return found;
    const item = this.controller.createTestItem(id, label);
    item.sortText = id.startsWith('round') ? '0' : '1';
    this.controller.items.add(item);
    return item;
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request);
    const asked = request.include ?? [...this.controller.items].map(([, item]) => item);
    const tops = new Set(asked.map(topOf));
    const excluded = new Set(request.exclude ?? []);
    for (const top of tops) {
      const root = this.roots.get(top.id);
      if (!root || token.isCancellationRequested) continue;
      const wanted = leaves(top).filter((item) => !excluded.has(item) && upwards(item).some((item) => asked.includes(item)));
      wanted.forEach((item) => run.started(item));
      try {
        if (root.of === 'round') await this.runRound(run, top, wanted, root, token);
        else await this.runBug(run, wanted, root, token);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        wanted.forEach((item) => run.errored(item, new vscode.TestMessage(text)));
      }
    }
    run.end();
  }

  /** The server runs all tests of a round at once; what it tells of others is shown, too. */
  private async runRound(run: vscode.TestRun, top: vscode.TestItem, wanted: vscode.TestItem[], root: Root & { of: 'round' }, token: vscode.CancellationToken): Promise<void> {
    await saveIn(root.tree);
    const line = await this.server.job<PracticeRun>('practiceRun', { folder: root.folder, practice: root.practice }, true, token);
    const result = line.result;
    if (line.state !== 'done' || !result || result.problem !== null) return without(run, wanted, line, result?.problem);
    print(run, result.log);
    const told = new Set<vscode.TestItem>();
    for (const { test, outcome } of result.verdicts) {
      const item = itemOf(top, test) ?? this.add(top, test);
      if (told.has(item) && outcome === 'passed') continue;
      told.add(item);
      judge(run, item, outcome, `${test}: ${outcome}`);
    }
    wanted.filter((item) => !told.has(item)).forEach((item) => run.skipped(item));
  }

  /** Another visible test, below what its id begins with. */
  private add(top: vscode.TestItem, test: string): vscode.TestItem {
    const end = test.indexOf('::');
    const name = end < 0 ? 'Others' : test.slice(0, end);
    const group = top.children.get(`of ${name}`) ?? this.controller.createTestItem(`of ${name}`, name);
    group.sortText = `~${name}`;
    top.children.add(group);
    const item = group.children.get(test) ?? this.controller.createTestItem(test, end < 0 ? test : test.slice(end + 2).replaceAll('::', '.'));
    group.children.add(item);
    return item;
  }

  private async runBug(run: vscode.TestRun, wanted: vscode.TestItem[], root: Root & { of: 'bug' }, token: vscode.CancellationToken): Promise<void> {
    const files = new Map<string | undefined, vscode.TestItem[]>();
    for (const item of wanted) {
      const file = item.uri && path.relative(root.folder, item.uri.fsPath).replaceAll(path.sep, '/');
      files.set(file, [...(files.get(file) ?? []), item]);
    }
    for (const [file, items] of files) {
      const line = await this.server.job<RunTests>('runTest', { folder: root.folder, ...(file ? { file } : {}) }, true, token);
      const result = line.result;
      if (line.state !== 'done' || !result || result.problem !== null) {
        without(run, items, line, result?.problem);
        continue;
      }
      print(run, result.log);
      items.forEach((item) => judge(run, item, result.outcomes[item.id], `${item.id}: ${result.outcomes[item.id] ?? 'no verdict'}`));
    }
  }
}

/** The item, and those that it is below. */
function upwards(item: vscode.TestItem): vscode.TestItem[] {
  return item.parent ? [item, ...upwards(item.parent)] : [item];
}

const topOf = (item: vscode.TestItem): vscode.TestItem => upwards(item).at(-1)!;

function leaves(item: vscode.TestItem): vscode.TestItem[] {
  return item.children.size === 0 ? [item] : [...item.children].flatMap(([, child]) => leaves(child));
}

/** The item of a broken behaviour that a verdict is about: the same file, and the same last name. */
function itemOf(top: vscode.TestItem, test: string): vscode.TestItem | undefined {
  const last = (id: string): string | undefined => id.split(/::|\.|\s>\s/).at(-1);
  return [...top.children].map(([, item]) => item).find((item) => item.id === test || (test.startsWith(item.id.split('::')[0]!) && last(item.id) === last(test)));
}

function judge(run: vscode.TestRun, item: vscode.TestItem, outcome: string | undefined, text: string): void {
  if (outcome === 'passed') return run.passed(item);
  if (outcome === 'failed') {
    const message = new vscode.TestMessage(text);
    if (item.uri && item.range) message.location = new vscode.Location(item.uri, item.range);
    return run.failed(item, message);
  }
  if (outcome === 'skipped') return run.skipped(item);
  return run.errored(item, new vscode.TestMessage(text));
}

function without(run: vscode.TestRun, items: vscode.TestItem[], line: JobLine, problem: string | null | undefined): void {
  const message = new vscode.TestMessage(problem ?? sentence(line));
  items.forEach((item) => (line.state === 'cancelled' ? run.skipped(item) : run.errored(item, message)));
}

function print(run: vscode.TestRun, text: string): void {
  run.appendOutput(text.replaceAll(/\r?\n/g, '\r\n'));
}
