// A round of practice, as commands: begin, run, check, hint, race, give up, reveal.

import * as vscode from 'vscode';
import type { Practice, PracticeHint, PracticeReveal } from './answers';
import { answerUri, type Answers, revealText } from './documents';
import type { Folders } from './folders';
import { openBehaviour, openTree, saveIn } from './practice_tree';
import type { Server } from './server';
import type { Subject } from './views/nodes';

/** How a command is called: from a node of a tree, or with words of its own. */
export type Called = { subject?: Subject } & Partial<Subject>;

interface Chosen {
  folder: string;
  practice: string;
}

export class PracticeCommands {
  constructor(
    private readonly server: Server,
    private readonly folders: Folders,
    private readonly answers: Answers,
    private readonly context: vscode.ExtensionContext,
  ) {}

  async practise(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const known = this.folders.of(editor?.document.uri);
    if (!known) return void vscode.window.showWarningMessage('Self-play: open the folder of a repository first.');
    type Item = vscode.QuickPickItem & { run: () => Thenable<unknown> };
    const { folder } = known;
    const begin = (argument: object) => () => this.server.ask('practise', { folder, ...argument });
    const items: Item[] = [
      { label: '$(mortar-board) What comes next', detail: 'A kind of bug that you missed and that is due, else the bug nearest to your rating, else a new one', run: begin({ pick: 'next' }) },
      { label: '$(bug) A new bug anywhere', run: begin({ pick: 'new' }) },
      ...(await offered('refactor.rewrite.selfplay.practise')).map((action): Item => ({
        label: `$(symbol-method) ${action.title.replace('Self-play: ', '')}`,
        run: () => vscode.commands.executeCommand(action.command!.command, ...(action.command!.arguments ?? [])),
      })),
    ];
    if (known.bugs.some(({ wrong }) => wrong > 0)) {
      items.push({ label: '$(notebook) From the wrong-book', detail: 'A bug that an attempt failed at', run: begin({ pick: 'wrongBook' }) });
    }
    const chosen = await vscode.window.showQuickPick(items, { title: 'Self-play: practise', placeHolder: 'Which bug?' });
    await chosen?.run();
  }

  async on(subject: Subject): Promise<void> {
    await this.server.ask('practise', { folder: subject.folder, artifact: subject.artifact });
  }

  /** Saves what is open of the tree, then begins the job; its end is shown by `Shown`. */
  async begin(command: 'practiceRun' | 'practiceCheck' | 'practiceRace', called?: Called): Promise<void> {
    const chosen = await this.round(called, command === 'practiceRace');
    if (!chosen) return;
    const round = this.folders.rounds().find(({ round }) => round.practice === chosen.practice)?.round;
    if (round) await saveIn(round.tree);
    await this.server.ask(command, { ...chosen });
  }

  async hint(called?: Called): Promise<void> {
    const chosen = await this.round(called);
    if (!chosen) return;
    await this.showHint(await this.server.ask<PracticeHint>('practiceHint', { ...chosen }));
  }

  private async showHint({ practice, hint, hints_left, best_score }: PracticeHint): Promise<void> {
    await this.folders.refresh();
    const tree = this.folders.rounds().find(({ round }) => round.practice === practice)?.round.tree;
    const left = hints_left === 0 ? 'That was the last hint.' : `${hints_left} left; a round with this one counts ${best_score.toFixed(2)} at most.`;
    const open = hint.file && tree ? ['Open the place'] : [];
    const chosen = await vscode.window.showInformationMessage(`Hint: ${hint.text}. ${left}`, ...open);
    if (chosen && hint.file && tree) await openBehaviour(tree, { file: hint.file, line: hint.line ?? 1 });
  }

  async giveUp(called?: Called): Promise<void> {
    const chosen = await this.round(called);
    if (!chosen) return;
    const sure = await vscode.window.showWarningMessage(
      'Give up this round?',
      { modal: true, detail: 'The bug is revealed, the round counts as missed, and bugs of its kind come back later.' },
      'Give up',
    );
    if (sure) await this.showReveal(await this.server.ask<PracticeReveal>('practiceGiveUp', { ...chosen }));
  }

  async reveal(called?: Called): Promise<void> {
    const named = this.named(called);
    const over = this.folders.known.flatMap(({ folder, practices }) =>
      practices.practices.filter(({ state }) => state !== 'open').map((line) => ({ folder, line })),
    );
    if (!named && over.length === 0) {
      return void vscode.window.showInformationMessage('Self-play: no round is over yet. Giving up a round reveals its bug.');
    }
    const items = over.map(({ folder, line }) => ({
      label: line.state === 'solved' ? '$(pass) solved' : '$(circle-slash) given up',
      description: line.practice.slice(0, 8),
      detail: new Date(line.begun * 1000).toLocaleString(),
      chosen: { folder, practice: line.practice },
    }));
    const chosen = named ?? (await vscode.window.showQuickPick(items, { title: 'Self-play: reveal the bug of which round?' }))?.chosen;
    if (chosen) await this.showReveal(await this.server.ask<PracticeReveal>('practiceReveal', { ...chosen }));
  }

  private async showReveal(reveal: PracticeReveal): Promise<void> {
    const uri = answerUri(`Round ${reveal.practice.slice(0, 8)}.md`);
    this.answers.keep(uri, revealText(reveal));
    await vscode.commands.executeCommand('markdown.showPreview', uri);
    await this.folders.refresh();
  }

  async open(called?: Called): Promise<void> {
    const chosen = await this.round(called);
    if (chosen) await openTree(this.context, await this.server.ask<Practice>('practiceShow', { ...chosen }));
  }

  async menu(): Promise<void> {
    const chosen = await this.round();
    if (!chosen) return;
    const items = [
      { label: '$(folder-opened) Open the practice tree', command: 'practiceOpen' },
      { label: '$(run-all) Run the visible tests', command: 'practiceRun' },
      { label: '$(pass) Check my fix', command: 'practiceCheck' },
      { label: '$(lightbulb) Hint', command: 'practiceHint' },
      { label: '$(rocket) Set the embedded solver on the same bug', command: 'practiceRace' },
      { label: '$(circle-slash) Give up', command: 'practiceGiveUp' },
    ];
    const item = await vscode.window.showQuickPick(items, { title: `Self-play: round ${chosen.practice.slice(0, 8)}` });
    if (item) await vscode.commands.executeCommand(`ssrMcp.ui.${item.command}`, chosen);
  }

  /** The round that is meant: the one named, that of the active editor, the only one, or the one that is chosen. */
  private async round(called?: Called, over = false): Promise<Chosen | undefined> {
    const named = this.named(called);
    if (named) return named;
    await this.folders.refresh();
    const at = this.folders.roundAt(vscode.window.activeTextEditor?.document.uri);
    if (at) return { folder: at.known.folder, practice: at.round.practice };
    const rounds = this.folders.rounds();
    const items = rounds.map(({ known, round }) => ({
      label: `Round ${round.practice.slice(0, 8)}`,
      description: known.name,
      detail: round.broken[0]?.text ?? '',
      chosen: { folder: known.folder, practice: round.practice },
    }));
    if (over && items.length === 0) {
      const lines = this.folders.known.flatMap(({ folder, practices }) => practices.practices.slice(0, 1).map(({ practice }) => ({ folder, practice })));
      if (lines[0]) return lines[0];
    }
    if (items.length <= 1) {
      if (!items[0]) void vscode.window.showInformationMessage('Self-play: no round is open.');
      return items[0]?.chosen;
    }
    return (await vscode.window.showQuickPick(items, { title: 'Self-play: which round?' }))?.chosen;
  }

  private named(called?: Called): Chosen | undefined {
    const { folder, practice } = called?.subject ?? called ?? {};
    if (!practice) return undefined;
    const of = folder ?? this.folders.known.find(({ practices }) => practices.practices.some((line) => line.practice === practice))?.folder;
    return of ? { folder: of, practice } : undefined;
  }
}

/** The server's actions of a kind at the cursor, those that carry a command. */
export async function offered(kind: string): Promise<vscode.CodeAction[]> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return [];
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', editor.document.uri, editor.selection, kind);
  return (actions ?? []).filter(({ command, title }) => command && title.startsWith('Self-play: '));
}
