// The repositories that are shown: those of the workspace folders, a practice tree counting as the one it is of.

import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Bugs, Practice, Practices } from './answers';
import type { Server } from './server';

/** What is known of one repository. */
export interface Known {
  folder: string;
  name: string;
  bugs: Bugs['bugs'];
  practices: Practices;
  /** Open rounds, each as it stands. */
  open: Practice[];
  problem: string | undefined;
}

/** Asks for everything that the views show, at most once at a time, and tells when it is another. */
export class Folders implements vscode.Disposable {
  private readonly told = new vscode.EventEmitter<void>();
  private reading: Promise<void> | undefined;
  private again = false;

  known: Known[] = [];
  readonly onChanged = this.told.event;

  constructor(private readonly server: Server) {}

  dispose(): void {
    this.told.dispose();
  }

  /** The one that holds a file or a practice tree, else the first. */
  of(file: vscode.Uri | undefined): Known | undefined {
    const inside = (known: Known): boolean =>
      file !== undefined && [known.folder, ...known.practices.practices.map(({ tree }) => tree)].some((folder) => holds(folder, file.fsPath));
    return this.known.find(inside) ?? this.known[0];
  }

  /** All open rounds, each with its repository. */
  rounds(): { known: Known; round: Practice }[] {
    return this.known.flatMap((known) => known.open.map((round) => ({ known, round })));
  }

  /** The open round whose tree the file lies in. */
  roundAt(file: vscode.Uri | undefined): { known: Known; round: Practice } | undefined {
    if (file?.scheme !== 'file') return undefined;
    return this.rounds().find(({ round }) => holds(round.tree, file.fsPath));
  }

  async refresh(): Promise<void> {
    if (this.reading) {
      this.again = true;
      return this.reading;
    }
    this.reading = this.read();
    try {
      await this.reading;
    } finally {
      this.reading = undefined;
    }
    if (this.again) {
      this.again = false;
      await this.refresh();
    }
  }

  private async read(): Promise<void> {
    const found = new Map<string, Known>();
    const folders = this.server.isRunning() ? (vscode.workspace.workspaceFolders ?? []) : [];
    for (const { uri, name } of folders.filter(({ uri }) => uri.scheme === 'file')) {
      const known = await this.ask(uri.fsPath, name);
      if (!found.has(known.folder)) found.set(known.folder, known);
    }
    this.known = [...found.values()];
    this.told.fire();
  }

  private async ask(asked: string, name: string): Promise<Known> {
    try {
      const { folder, bugs } = await this.server.ask<Bugs>('bugs', { folder: asked });
      const practices = await this.server.ask<Practices>('practices', { folder });
      const open = practices.practices.filter(({ state }) => state === 'open');
      const rounds = await Promise.all(open.map(({ practice }) => this.server.ask<Practice>('practiceShow', { folder, practice })));
      return { folder, name: folder === asked ? name : path.basename(folder), bugs, practices, open: rounds, problem: undefined };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { folder: asked, name, bugs: [], practices: { practices: [], due: [] }, open: [], problem };
    }
  }
}

export function holds(folder: string, file: string): boolean {
  const inside = path.relative(folder, file);
  return inside === '' || (!inside.startsWith('..') && !path.isAbsolute(inside));
}
