// What the trees are made of.

import * as vscode from 'vscode';
import type { Known } from '../folders';

/** What a command gets that is called on a node. */
export interface Subject {
  folder: string;
  artifact?: string;
  practice?: string;
  job?: string;
}

export interface Node {
  id?: string;
  label: string;
  description?: string | undefined;
  tooltip?: string | vscode.MarkdownString | undefined;
  icon?: vscode.ThemeIcon;
  kind?: string;
  subject?: Subject;
  command?: vscode.Command;
  open?: boolean;
  children?: Node[];
  /** For those that hear the tree read out. */
  spoken?: string;
}

export class Nodes implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly told = new vscode.EventEmitter<undefined>();
  private roots: Node[] = [];

  readonly onDidChangeTreeData = this.told.event;

  dispose(): void {
    this.told.dispose();
  }

  /** Draws anew only what is another: a tree that is drawn again loses where its reader is. */
  show(roots: Node[]): void {
    const same = JSON.stringify(roots) === JSON.stringify(this.roots);
    this.roots = roots;
    if (same) return;
    this.told.fire(undefined);
  }

  getChildren(node?: Node): Node[] {
    return node ? (node.children ?? []) : this.roots;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const { None, Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const state = node.children?.length ? (node.open === false ? Collapsed : Expanded) : None;
    const item = new vscode.TreeItem(node.label, state);
    if (node.id) item.id = node.id;
    if (node.description !== undefined) item.description = node.description;
    if (node.tooltip !== undefined) item.tooltip = node.tooltip;
    if (node.icon) item.iconPath = node.icon;
    if (node.kind) item.contextValue = node.kind;
    if (node.command) item.command = node.command;
    if (node.spoken) item.accessibilityInformation = { label: node.spoken };
    return item;
  }
}

/** The nodes of each repository, below its name where there are several. */
export function perFolder(all: Known[], nodes: (known: Known) => Node[]): Node[] {
  const found = all.map((known): Node => ({
    id: known.folder,
    label: known.name,
    tooltip: known.folder,
    icon: new vscode.ThemeIcon('root-folder'),
    children: known.problem ? [problem(known.problem)] : nodes(known),
  }));
  const [only] = found;
  if (found.length === 1) return only?.children ?? [];
  return found.filter(({ children }) => children?.length);
}

function problem(text: string): Node {
  return { label: text, tooltip: text, icon: new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground')) };
}

export const themed = (icon: string, colour?: string): vscode.ThemeIcon =>
  colour ? new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour)) : new vscode.ThemeIcon(icon);

export const call = (title: string, command: string, ...args: unknown[]): vscode.Command => ({
  title,
  command: `ssrMcp.ui.${command}`,
  arguments: args,
});
