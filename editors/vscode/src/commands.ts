// What a person calls from the palette and the views. Every one asks the server for a command of its own.

import * as vscode from 'vscode';
import { type Bug, type Bugs, type Rewards, short } from './answers';
import { NoBinary } from './binary';
import { answerUri, type Answers } from './documents';
import type { Folders } from './folders';
import { type Called, offered, PracticeCommands } from './practice';
import { openBehaviour } from './practice_tree';
import type { Server } from './server';
import { standing } from './views/bugs';
import type { Subject } from './views/nodes';

export class Commands {
  private readonly practice: PracticeCommands;

  constructor(
    private readonly server: Server,
    private readonly folders: Folders,
    private readonly answers: Answers,
    context: vscode.ExtensionContext,
  ) {
    this.practice = new PracticeCommands(server, folders, answers, context);
  }

  register(): vscode.Disposable {
    const practice = this.practice;
    const all: Record<string, (...args: any[]) => Promise<unknown> | unknown> = {
      inject: () => this.inject(),
      solve: (called) => this.onBug(called, (bug) => this.server.ask('solve', bug)),
      showBug: (called) => this.onBug(called, (bug) => this.server.ask('show', { ...bug, part: 'bug' })),
      showWeakening: (called) => this.onBug(called, (bug) => this.server.ask('show', { ...bug, part: 'weakening' })),
      showReversed: (called) => this.onBug(called, (bug) => this.server.ask('show', { ...bug, part: 'reversed' })),
      runParser: (called) => this.onBug(called, (bug) => this.server.ask('runParser', bug)),
      score: (called) => this.onBug(called, async (bug) => this.tell((await this.server.ask<Rewards>('score', bug)).reason)),
      practiseOnBug: (called) => this.onBug(called, (bug) => practice.on(bug as unknown as Subject)),
      unnoticed: () => this.unnoticed(),
      train: async () => this.server.ask('train', await this.folder()),
      status: () => this.status(),
      practise: () => practice.practise(),
      practiceRun: (called) => practice.begin('practiceRun', called),
      practiceCheck: (called) => practice.begin('practiceCheck', called),
      practiceRace: (called) => practice.begin('practiceRace', called),
      practiceHint: (called) => practice.hint(called),
      practiceGiveUp: (called) => practice.giveUp(called),
      practiceReveal: (called) => practice.reveal(called),
      practiceOpen: (called) => practice.open(called),
      practiceMenu: () => practice.menu(),
      openBehaviour: (tree: string, place) => openBehaviour(tree, place),
      chooseBug: (bugs: Bugs) => this.chooseBug(bugs),
      cancelJob: (called) => this.cancelJob(called),
      refresh: () => this.folders.refresh(),
      restart: () => this.server.restart(),
      showLog: () => this.server.showLog(),
    };
    const registered = Object.entries(all).map(([name, run]) =>
      vscode.commands.registerCommand(`ssrMcp.ui.${name}`, (...args: unknown[]) => this.run(() => run(...args))),
    );
    return vscode.Disposable.from(...registered);
  }

  /** Runs a command; what goes wrong is said with something to do about it. */
  private async run(command: () => unknown): Promise<void> {
    try {
      await command();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (error instanceof NoBinary) return complain(text);
      this.server.write(text);
      await vscode.window.showErrorMessage(`Self-play: ${text}`);
    }
  }

  /** The server's own offers at the cursor, and the whole workspace. */
  private async inject(): Promise<void> {
    await this.server.started();
    const kind = 'refactor.rewrite.selfplay.inject';
    const here = (await offered(kind)).map((action) => ({
      label: capital(action.title.replace('Self-play: ', '')),
      run: () => vscode.commands.executeCommand(action.command!.command, ...(action.command!.arguments ?? [])),
    }));
    const anywhere = { label: 'Inject a bug into this workspace', run: async () => void (await this.server.ask('inject', await this.folder())) };
    const items = here.some(({ label }) => label === anywhere.label) ? here : [...here, anywhere];
    const chosen = await vscode.window.showQuickPick(items, { title: 'Self-play: inject a bug', placeHolder: 'It goes into a copy; your files stay as they are' });
    await chosen?.run();
  }

  private async unnoticed(): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri;
    if (uri?.scheme !== 'file') return this.tell('Open the file to look at first.');
    await this.server.ask('unnoticed', { uri: uri.toString() });
  }

  private async status(): Promise<void> {
    const status = await this.server.ask<unknown>('status', await this.folder());
    const uri = answerUri('Self-play status.json');
    this.answers.keep(uri, `${JSON.stringify(status, null, 2)}\n`);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  private async onBug(called: Called | undefined, run: (bug: Record<string, unknown>) => unknown): Promise<void> {
    const { folder, artifact } = called?.subject ?? called ?? {};
    if (folder && artifact) return void (await run({ folder, artifact }));
    await this.folders.refresh();
    const chosen = await pickBug(this.folders.known.map(({ folder, bugs }) => ({ folder, bugs })));
    if (chosen) await run(chosen);
  }

  /** Which bug of a lens, and what to do with it. */
  private async chooseBug(bugs: Bugs): Promise<void> {
    const bug = bugs.bugs.length === 1 ? { folder: bugs.folder, artifact: bugs.bugs[0]!.artifact } : await pickBug([bugs]);
    if (!bug) return;
    const items = [
      { label: '$(diff) Show the bug', command: 'showBug' },
      { label: '$(diff-added) Show the reversed weakened test', command: 'showReversed' },
      { label: '$(diff-removed) Show the weakening', command: 'showWeakening' },
      { label: '$(mortar-board) Practise on it', command: 'practiseOnBug' },
      { label: '$(rocket) Solve it from its reversed weakened test', command: 'solve' },
      { label: '$(star-empty) Score its reward', command: 'score' },
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: `Self-play: bug ${short(bug.artifact)}` });
    if (chosen) await vscode.commands.executeCommand(`ssrMcp.ui.${chosen.command}`, bug);
  }

  private async cancelJob(called?: Called): Promise<void> {
    const { folder, job } = called?.subject ?? called ?? {};
    if (job) return void (await this.server.ask('cancel', { folder, job }));
    const items = [...this.server.running.values()].map((running) => ({ label: running.command, description: running.job.slice(0, 8), running }));
    if (items.length === 0) return this.tell('Nothing is running.');
    const chosen = await vscode.window.showQuickPick(items, { title: 'Self-play: cancel which job?' });
    if (chosen) await this.server.ask('cancel', { folder: chosen.running.folder, job: chosen.running.job });
  }

  private async folder(): Promise<{ folder: string }> {
    await this.server.started();
    if (this.folders.known.length === 0) await this.folders.refresh();
    const active = vscode.window.activeTextEditor?.document.uri;
    if (this.folders.known.length > 1 && active?.scheme !== 'file') {
      const items = this.folders.known.map(({ folder, name }) => ({ label: name, description: folder, folder }));
      const chosen = await vscode.window.showQuickPick(items, { title: 'Self-play: which folder?' });
      if (chosen) return { folder: chosen.folder };
    }
    const known = this.folders.of(active);
    if (!known) throw new Error('open the folder of a repository first');
    return { folder: known.folder };
  }

  private tell(text: string): void {
    void vscode.window.showInformationMessage(`Self-play: ${text}`);
  }
}

/** Says that there is no server, and what to do. */
export async function complain(text: string): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(`Self-play: ${text}`, 'Set the path', 'Try again', 'Show the log');
  if (chosen === 'Set the path') await vscode.commands.executeCommand('workbench.action.openSettings', 'ssrMcp.path');
  if (chosen === 'Try again') await vscode.commands.executeCommand('ssrMcp.ui.restart');
  if (chosen === 'Show the log') await vscode.commands.executeCommand('ssrMcp.ui.showLog');
}

async function pickBug(all: { folder: string; bugs: Bug[] }[]): Promise<{ folder: string; artifact: string } | undefined> {
  const items = all.flatMap(({ folder, bugs }) =>
    bugs.map((bug) => ({ label: `$(bug) ${bug.files.join(', ')}`, description: short(bug.artifact), detail: standing(bug), bug: { folder, artifact: bug.artifact } })),
  );
  if (items.length === 0) {
    void vscode.window.showInformationMessage('Self-play: no bug is kept of this workspace.');
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { title: 'Self-play: which bug?', matchOnDescription: true }))?.bug;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

