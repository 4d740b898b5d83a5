// Wires the parts together. What bugs, tests and rounds are is known to the server alone.

import * as vscode from 'vscode';
import type { JobLine } from './answers';
import { NoBinary } from './binary';
import { Commands, complain } from './commands';
import { Answers, SCHEME } from './documents';
import { Folders } from './folders';
import { provideMcp } from './mcp';
import { takeOver } from './practice_tree';
import { isOfOurs, Server } from './server';
import { Shown } from './shown';
import { StatusBar } from './status_bar';
import { Testing } from './testing';
import { bugNodes, wrongBookNodes } from './views/bugs';
import { jobNodes } from './views/jobs';
import { Nodes, perFolder } from './views/nodes';
import { practiceNodes } from './views/practice';
import { RatingsView } from './views/ratings';

export interface Exported {
  server: Server;
  folders: Folders;
}

export async function activate(context: vscode.ExtensionContext): Promise<Exported> {
  const server = new Server(context);
  const folders = new Folders(server);
  const answers = new Answers();
  const shown = new Shown(server, folders, context);
  const status = new StatusBar(server, folders);
  const testing = new Testing(server, folders);
  const ratings = new RatingsView(server, folders);
  const trees = { practice: new Nodes(), bugs: new Nodes(), wrongBook: new Nodes(), jobs: new Nodes() };
  const views = Object.entries(trees).map(([name, treeDataProvider]) =>
    vscode.window.createTreeView(`ssrMcp.${name}`, { treeDataProvider, showCollapseAll: name !== 'jobs' }),
  );

  const refresh = async (): Promise<void> => {
    status.refresh();
    await folders.refresh();
  };
  let lines = new Map<string, JobLine[]>();
  const showJobs = (): void => trees.jobs.show(perFolder(folders.known, ({ folder }) => jobNodes(folder, lines.get(folder) ?? [], server.running)));
  const readJobs = async (): Promise<void> => {
    lines = await jobs(server, folders);
    showJobs();
  };
  const show = async (): Promise<void> => {
    trees.practice.show(perFolder(folders.known, practiceNodes));
    trees.bugs.show(perFolder(folders.known, bugNodes));
    trees.wrongBook.show(perFolder(folders.known, wrongBookNodes));
    status.refresh();
    testing.refresh();
    await Promise.all([mark(folders), ratings.refresh(), readJobs()]);
  };

  context.subscriptions.push(
    server, folders, answers, shown, status, testing, ...Object.values(trees), ...views,
    vscode.window.registerWebviewViewProvider('ssrMcp.ratings', ratings),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, answers),
    new Commands(server, folders, answers, context).register(),
    provideMcp(context),
    server.onChanged(() => void refresh()),
    server.onAsked(({ command, answer }) => void shown.asked(command, answer)),
    server.onProgress(showJobs),
    server.onJobEnded((line) => {
      if (!server.isQuiet(line.job)) void shown.ended(line);
    }),
    folders.onChanged(() => void show()),
    vscode.window.onDidChangeActiveTextEditor(() => void mark(folders)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void refresh()),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (folders.roundAt(uri)) void refresh();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('ssrMcp.path') || event.affectsConfiguration('ssrMcp.environment')) {
        void vscode.commands.executeCommand('ssrMcp.ui.restart');
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void begin(server)),
    // Nothing is started before there is something to show.
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (isOfOurs(document)) void begin(server);
    }),
    ...views.map((view) => view.onDidChangeVisibility(({ visible }) => visible && void begin(server))),
    testing.onShown(() => void begin(server)),
    ratings.onShown(() => void begin(server)),
  );
  const wanted = vscode.workspace.textDocuments.some(isOfOurs) || views.some(({ visible }) => visible);
  if ((await takeOver(context)) || wanted) await begin(server);
  return { server, folders };
}

/** Starts the server, once; a person is told once why it does not start. */
async function begin(server: Server): Promise<void> {
  if (!vscode.workspace.isTrusted || server.problem) return;
  try {
    await server.started();
  } catch (error) {
    // Not waited for: the person may answer whenever they like.
    void complain(error instanceof NoBinary ? error.message : `the server did not start: ${String(error)}`);
  }
}

/** Tells the menus whether a round is open, and whether the active editor is in its tree. */
async function mark(folders: Folders): Promise<void> {
  const inTree = folders.roundAt(vscode.window.activeTextEditor?.document.uri) !== undefined;
  await vscode.commands.executeCommand('setContext', 'ssrMcp.inPracticeTree', inTree);
  await vscode.commands.executeCommand('setContext', 'ssrMcp.practiceOpen', folders.rounds().length > 0);
}

/** The jobs of each repository. */
async function jobs(server: Server, folders: Folders): Promise<Map<string, JobLine[]>> {
  const readable = folders.known.filter(({ problem }) => !problem);
  const ask = ({ folder }: { folder: string }) => server.ask<JobLine[]>('jobs', { folder }).catch(() => []);
  return new Map(await Promise.all(readable.map(async (known) => [known.folder, await ask(known)] as const)));
}
