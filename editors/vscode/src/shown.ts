// What is said of the end of a job, and of the answer of a command.

import * as vscode from 'vscode';
import type { Injected, JobLine, Practice, PracticeCheck, PracticeRun, Rewards, RunTests } from './answers';
import type { Folders } from './folders';
import { openTree } from './practice_tree';
import type { Server } from './server';

export class Shown implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel('Self-play: tests');

  constructor(
    private readonly server: Server,
    private readonly folders: Folders,
    private readonly context: vscode.ExtensionContext,
  ) {}

  dispose(): void {
    this.output.dispose();
  }

  /** The end of a job that nobody shows. */
  async ended(line: JobLine): Promise<void> {
    if (line.state !== 'done') {
      if (line.state === 'cancelled') return;
      return void (await this.say('warning', sentence(line)));
    }
    switch (line.tool) {
      case 'inject_bug':
        return this.injected(line as JobLine<Injected>);
      case 'practice_start':
        return this.started(line as JobLine<Practice>);
      case 'practice_run':
        return this.ran(line as JobLine<PracticeRun>);
      case 'practice_check':
        return this.checked(line as JobLine<PracticeCheck>);
      case 'run_tests':
        return this.tested(line as JobLine<RunTests>);
      default:
        return void (await this.say('information', sentence(line)));
    }
  }

  /** The answer of a command that an action or a lens carried. */
  async asked(command: string, answer: unknown): Promise<void> {
    switch (command) {
      case 'bugs':
        return void (await vscode.commands.executeCommand('ssrMcp.ui.chooseBug', answer));
      case 'score':
        return void (await this.say('information', (answer as Rewards).reason));
      default:
    }
  }

  showLog(title: string, text: string): void {
    this.output.clear();
    this.output.appendLine(title);
    this.output.appendLine('');
    this.output.append(text);
    this.output.show(true);
  }

  private async injected(line: JobLine<Injected>): Promise<void> {
    const { artifact, valid } = line.result ?? {};
    if (!artifact || !valid) return void (await this.say('warning', sentence(line)));
    const chosen = await this.say('information', sentence(line), 'Show the bug', 'Practise on it');
    const known = this.folders.known.find(({ bugs }) => bugs.some((bug) => bug.artifact === artifact));
    const argument = { folder: known?.folder, artifact };
    if (chosen === 'Show the bug') await this.server.ask('show', { ...argument, part: 'bug' });
    if (chosen === 'Practise on it') await vscode.commands.executeCommand('ssrMcp.ui.practiseOnBug', argument);
  }

  private async started(line: JobLine<Practice>): Promise<void> {
    if (line.result) await openTree(this.context, line.result);
  }

  private async ran(line: JobLine<PracticeRun>): Promise<void> {
    const run = line.result;
    if (!run) return;
    const log = 'Show the log';
    if (run.green) {
      const chosen = await this.say('information', `The visible tests pass: ${run.passed} of ${run.passed}.`, 'Check my fix', log);
      if (chosen === 'Check my fix') await vscode.commands.executeCommand('ssrMcp.ui.practiceCheck', { practice: run.practice });
      if (chosen === log) this.showLog(run.tests, run.log);
      return;
    }
    const chosen = await this.say('warning', run.problem ?? `${run.failing.length} fail, ${run.passed} pass: ${run.failing[0] ?? ''}`, log, 'Hint');
    if (chosen === log) this.showLog(run.tests, run.log);
    if (chosen === 'Hint') await vscode.commands.executeCommand('ssrMcp.ui.practiceHint', { practice: run.practice });
  }

  private async checked(line: JobLine<PracticeCheck>): Promise<void> {
    const check = line.result;
    if (!check) return;
    if (!check.solved) {
      const chosen = await this.say('warning', `Not repaired: ${check.reason}.`, 'Run the visible tests', 'Hint');
      if (chosen === 'Hint') await vscode.commands.executeCommand('ssrMcp.ui.practiceHint', { practice: check.practice });
      if (chosen === 'Run the visible tests') await vscode.commands.executeCommand('ssrMcp.ui.practiceRun', { practice: check.practice });
      return;
    }
    const rating = check.rated ? ` Your rating: ${check.rating_before.text} → ${check.rating.text}.` : '';
    const chosen = await this.say('information', `Repaired.${rating}`, 'Reveal the bug', 'Practise again');
    if (chosen === 'Reveal the bug') await vscode.commands.executeCommand('ssrMcp.ui.practiceReveal', { practice: check.practice });
    if (chosen === 'Practise again') await vscode.commands.executeCommand('ssrMcp.ui.practise');
  }

  private async tested(line: JobLine<RunTests>): Promise<void> {
    const run = line.result;
    if (!run) return;
    const level = run.problem !== null || run.failing.length > 0 ? 'warning' : 'information';
    const chosen = await this.say(level, sentence(line), 'Show the log');
    if (chosen) this.showLog(sentence(line), run.log);
  }

  private say(level: 'information' | 'warning', text: string, ...items: string[]): Thenable<string | undefined> {
    const said = text.startsWith('Self-play: ') ? text : `Self-play: ${text}`;
    return level === 'warning' ? vscode.window.showWarningMessage(said, ...items) : vscode.window.showInformationMessage(said, ...items);
  }
}

/** A job's end in one sentence. */
export function sentence(line: JobLine): string {
  return line.said ?? line.error ?? `${line.tool.replaceAll('_', ' ')}: ${line.state}`;
}
