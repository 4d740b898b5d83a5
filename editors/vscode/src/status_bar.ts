// The status-bar item: how many jobs run, and the open round.

import * as vscode from 'vscode';
import { duration } from './answers';
import type { Folders } from './folders';
import type { Server } from './server';

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('ssrMcp', vscode.StatusBarAlignment.Left, 10);

  constructor(
    private readonly server: Server,
    private readonly folders: Folders,
  ) {
    this.item.name = 'Self-play';
  }

  dispose(): void {
    this.item.dispose();
  }

  refresh(): void {
    const running = this.server.running.size;
    const rounds = this.folders.rounds();
    const first = rounds[0]?.round;
    this.item.backgroundColor = undefined;
    if (this.server.problem) {
      this.item.text = '$(warning) Self-play';
      this.item.tooltip = this.server.problem;
      this.item.command = 'ssrMcp.ui.restart';
      this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
    } else if (running > 0) {
      this.item.text = `$(loading~spin) Self-play: ${running} running`;
      this.item.tooltip = [...this.server.running.values()].map(({ command }) => command).join('\n');
      this.item.command = 'ssrMcp.jobs.focus';
    } else if (first) {
      this.item.text = rounds.length > 1 ? `$(mortar-board) ${rounds.length} rounds` : `$(mortar-board) Practice: ${duration(first.active_seconds)}`;
      this.item.tooltip = first.broken[0]?.text ?? 'a round is open';
      this.item.command = 'ssrMcp.ui.practiceMenu';
    } else {
      return this.item.hide();
    }
    this.item.accessibilityInformation = { label: `${this.item.text.replaceAll(/\$\([^)]*\) ?/g, '')}. ${String(this.item.tooltip)}` };
    this.item.show();
  }
}
