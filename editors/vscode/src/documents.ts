// Answers that are shown as documents of their own: what a round was about, and what is kept.

import * as vscode from 'vscode';
import type { PracticeReveal } from './answers';

export const SCHEME = 'ssr-mcp-answer';

export class Answers implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly told = new vscode.EventEmitter<vscode.Uri>();

  readonly onDidChange = this.told.event;

  dispose(): void {
    this.told.dispose();
  }

  keep(uri: vscode.Uri, text: string): void {
    this.texts.set(uri.toString(), text);
    this.told.fire(uri);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? 'This was shown in an earlier session; ask for it again.\n';
  }
}

export const answerUri = (name: string): vscode.Uri => vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });

export function revealText(reveal: PracticeReveal): string {
  const over = reveal.state === 'solved' ? 'Solved' : 'Given up';
  const places = reveal.places.map((place) => {
    const where = place.function ? `\`${place.function}\` in \`${place.file}\`` : `\`${place.file}\``;
    return `## ${where}, line ${place.line}: ${place.kind.replaceAll('_', ' ')}\n\n${fenced('diff', [...place.was.map((line) => `-${line}`), ...place.is.map((line) => `+${line}`)].join('\n'))}`;
  });
  const players = reveal.players.map(({ text }) => `- ${text}`);
  return `# ${over}: bug ${reveal.artifact.slice(0, 12)}

${reveal.explanation}

${places.join('\n\n')}

## Ratings

You: ${reveal.rating.text}. This bug: ${reveal.bug_rating.text}.${reveal.rated ? '' : ' The round was not rated.'}

${players.join('\n')}

## The repair

${fenced('diff', reveal.repair)}
`;
}

/** A fence longer than any in the text. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}
