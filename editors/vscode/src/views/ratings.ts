// The view of ratings: a chart and two tables, in the colours of the theme. No script runs in it.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { duration, type Ratings } from '../answers';
import type { Folders } from '../folders';
import type { Server } from '../server';
import { chart } from './chart';

export class RatingsView implements vscode.WebviewViewProvider {
  private readonly shown = new vscode.EventEmitter<void>();
  /** Somebody looks at the ratings. */
  readonly onShown = this.shown.event;
  private view: vscode.WebviewView | undefined;

  constructor(
    private readonly server: Server,
    private readonly folders: Folders,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.webview.options = { enableScripts: false, enableCommandUris: ['ssrMcp.ui.practise'], localResourceRoots: [] };
    view.onDidDispose(() => (this.view = undefined));
    const look = (): void => {
      if (view.visible) this.shown.fire();
      void this.refresh();
    };
    view.onDidChangeVisibility(look);
    look();
  }

  async refresh(): Promise<void> {
    if (!this.view?.visible) return;
    const parts: string[] = [];
    for (const { folder, name, problem } of this.folders.known) {
      if (problem) continue;
      const head = this.folders.known.length > 1 ? `<h2>${escaped(name)}</h2>` : '';
      try {
        parts.push(head + body(await this.server.ask<Ratings>('ratings', { folder })));
      } catch (error) {
        parts.push(`${head}<p>${escaped(error instanceof Error ? error.message : String(error))}</p>`);
      }
    }
    if (this.view) this.view.webview.html = page(parts.join('\n') || '<p>There are no ratings yet.</p>');
  }
}

function body(ratings: Ratings): string {
  if (ratings.series.length === 0) {
    return `<p>You and every bug that you practise on are rated. A rating comes with how uncertain it still is;
      yours is ${escaped(ratings.rating.text)}, before the first round.</p><p><a href="command:ssrMcp.ui.practise">Practise</a></p>`;
  }
  const median = ratings.median_seconds === null ? '' : `, ${duration(ratings.median_seconds)} in the median`;
  return `<p class="rating"><strong>${escaped(ratings.rating.text)}</strong><br>
    <span class="quiet">${ratings.solved} solved, ${ratings.given_up} given up${median}</span></p>
    ${chart(ratings.series)}
    <p class="legend"><span class="key solved-key">●</span> solved <span class="key missed-key">●</span> not solved
      <span class="key bug-key">◆</span> the bug</p>
    ${players(ratings)}
    ${families(ratings)}`;
}

function players({ players }: Ratings): string {
  if (players.length < 2) return '';
  const rows = players.map(
    ({ player, rating, solved, tried }) => `<tr><th scope="row">${escaped(player === 'person' ? 'you' : player)}</th><td>${escaped(rating.text)}</td><td>${solved} of ${tried}</td></tr>`,
  );
  return `<table><caption>On the same bugs</caption><thead><tr><th scope="col">Who</th><th scope="col">Rating</th><th scope="col">Solved</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function families({ families }: Ratings): string {
  const due = (due_in: number | null): string => (due_in === null ? '' : due_in === 0 ? 'now' : `in ${duration(due_in)}`);
  const rows = families.map(
    ({ family, solved, given_up, due_in }) => `<tr><th scope="row">${escaped(family)}</th><td>${solved} of ${solved + given_up}</td><td>${due(due_in)}</td></tr>`,
  );
  return `<table><caption>Kinds of bug</caption><thead><tr><th scope="col">Kind</th><th scope="col">Solved</th><th scope="col">Due</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function page(content: string): string {
  const nonce = randomBytes(16).toString('hex');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
<title>Ratings</title>
<style nonce="${nonce}">
  body { padding: 4px 14px 10px; color: var(--vscode-foreground); font: var(--vscode-font-size) var(--vscode-font-family); }
  h2 { font-size: 1em; margin: 10px 0 2px; }
  p { margin: 4px 0 8px; }
  a { color: var(--vscode-textLink-foreground); }
  a:focus-visible { outline: 1px solid var(--vscode-focusBorder); }
  .rating strong { font-size: 1.5em; font-weight: 600; }
  .quiet, .axis, .legend { color: var(--vscode-descriptionForeground); fill: var(--vscode-descriptionForeground); }
  svg { width: 100%; max-width: 520px; height: auto; display: block; }
  .axis { font-size: 9px; }
  .grid { stroke: var(--vscode-widget-border, var(--vscode-descriptionForeground)); stroke-width: 0.6; opacity: 0.5; }
  .band { fill: var(--vscode-charts-blue); opacity: 0.16; }
  .whisker { stroke: var(--vscode-charts-blue); stroke-width: 1.2; opacity: 0.5; }
  .line { fill: none; stroke: var(--vscode-charts-blue); stroke-width: 1.6; }
  .solved { fill: var(--vscode-charts-green); }
  .missed { fill: var(--vscode-charts-red); }
  .bug { fill: none; stroke: var(--vscode-charts-yellow); stroke-width: 1.2; }
  .key { padding-left: 8px; } .key:first-child { padding-left: 0; }
  .solved-key { color: var(--vscode-charts-green); }
  .missed-key { color: var(--vscode-charts-red); }
  .bug-key { color: var(--vscode-charts-yellow); }
  table { border-collapse: collapse; width: 100%; margin-top: 12px; }
  caption { text-align: left; font-weight: 600; padding-bottom: 3px; }
  th { text-align: left; font-weight: normal; }
  thead th { color: var(--vscode-descriptionForeground); }
  td, th { padding: 2px 8px 2px 0; vertical-align: top; }
</style>
</head>
<body>${content}</body>
</html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
