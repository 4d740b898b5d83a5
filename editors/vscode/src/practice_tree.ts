// Where a practice tree is opened: a window of its own, one more folder of this one, or only the broken test.

import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Behaviour, Practice } from './answers';
import { holds } from './folders';

/** Trees that another window was opened for, and the place to be shown there. */
const HANDED_OVER = 'ssrMcp.handedOver';

interface Place {
  file: string;
  line: number;
}

export async function openTree(context: vscode.ExtensionContext, round: Practice): Promise<void> {
  const where = vscode.workspace.getConfiguration('ssrMcp').get<string>('practice.openIn', 'newWindow');
  const tree = vscode.Uri.file(round.tree);
  const first = round.broken[0];
  const isHere = vscode.workspace.workspaceFolders?.some(({ uri }) => uri.fsPath === tree.fsPath);
  if (where === 'newWindow' && !isHere) {
    await handOver(context, round);
    return void (await vscode.commands.executeCommand('vscode.openFolder', tree, { forceNewWindow: true }));
  }
  if (where === 'workspace' && !isHere) {
    await handOver(context, round);
    const folders = vscode.workspace.workspaceFolders ?? [];
    vscode.workspace.updateWorkspaceFolders(folders.length, 0, { uri: tree, name: `Practice ${round.practice.slice(0, 8)}` });
  }
  if (first) await openBehaviour(round.tree, first);
  await vscode.commands.executeCommand('ssrMcp.practice.focus');
}

export async function openBehaviour(tree: string, behaviour: Pick<Behaviour, 'file' | 'line'>): Promise<void> {
  const uri = vscode.Uri.file(path.join(tree, behaviour.file));
  const document = await vscode.workspace.openTextDocument(uri);
  const line = Math.min(Math.max(behaviour.line - 1, 0), document.lineCount - 1);
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(line, 0, line, 0), preview: false });
}

/** Saves what is open of a tree, and nothing else. */
export async function saveIn(tree: string): Promise<void> {
  const inside = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === 'file' && holds(tree, uri.fsPath));
  await Promise.all(inside.map((document) => document.save()));
}

/** In a window that was opened for a practice tree, or whose extensions were started again for it: shows the test. */
export async function takeOver(context: vscode.ExtensionContext): Promise<boolean> {
  const handed = context.globalState.get<Record<string, Place>>(HANDED_OVER, {});
  for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
    const place = handed[uri.fsPath];
    if (!place) continue;
    const { [uri.fsPath]: _, ...rest } = handed;
    await context.globalState.update(HANDED_OVER, rest);
    await openBehaviour(uri.fsPath, place);
    await vscode.commands.executeCommand('ssrMcp.practice.focus');
    return true;
  }
  return false;
}

async function handOver(context: vscode.ExtensionContext, round: Practice): Promise<void> {
  const first = round.broken[0];
  if (!first) return;
  const handed = context.globalState.get<Record<string, Place>>(HANDED_OVER, {});
  await context.globalState.update(HANDED_OVER, { ...handed, [round.tree]: { file: first.file, line: first.line } });
}
