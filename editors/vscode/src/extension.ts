// Wires the parts together. What bugs, tests and rounds are is known to the server alone.

import * as vscode from 'vscode';
import type { JobLine } from './answers';
import { NoBinary } from './binary';
import { Commands, complain } from './commands';
import { Answers, SCHEME } from './documents';
import { Folders } from './folders';
import { provideMcp } from './mcp';
import { takeOver } from './practice_tree';
import { Server } from './server';
import { Shown } from './shown';
import { StatusBar } from './status_bar';
import { Testing } from './testing';
import { bugNodes, wrongBookNodes } from './views/bugs';
import { jobNodes } from './views/jobs';
import { type Node, Nodes, perFolder } from './views/nodes';
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
  const show = async (): Promise<void> => {
    trees.practice.show(perFolder(folders.known, practiceNodes));
    trees.bugs.show(perFolder(folders.known, bugNodes));
    trees.wrongBook.show(perFolder(folders.known, wrongBookNodes));
    status.refresh();
    testing.refresh();
    await Promise.all([mark(folders), ratings.refresh(), jobs(server, folders).then((nodes) => trees.jobs.show(nodes))]);
  };

  context.subscriptions.push(
    server, folders, answers, shown, status, testing, ...Object.values(trees), ...views,
    vscode.window.registerWebviewViewProvider('ssrMcp.ratings', ratings),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, answers),
    new Commands(server, folders, answers, context).register(),
    provideMcp(context),
    server.onChanged(() => void refresh()),
    server.onAsked(({ command, argument, answer }) => void shown.asked(command, argument, answer)),
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
    vscode.workspace.onDidGrantWorkspaceTrust(() => void begin(context, server)),
  );
  await begin(context, server);
  return { server, folders };
}

async function begin(context: vscode.ExtensionContext, server: Server): Promise<void> {
  if (!vscode.workspace.isTrusted) return;
  try {
    await server.started();
    await takeOver(context);
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

async function jobs(server: Server, folders: Folders): Promise<Node[]> {
  const all = await Promise.all(
    folders.known.filter(({ problem }) => !problem).map(async (known) => {
      const lines = await server.ask<JobLine[]>('jobs', { folder: known.folder }).catch(() => []);
      return [known.folder, jobNodes(known.folder, lines)] as const;
    }),
  );
  const found = new Map(all);
  return perFolder(folders.known, ({ folder }) => found.get(folder) ?? []);
}
