// The bugs of a repository, each with its parts and the tests that notice it.

import * as vscode from 'vscode';
import { type Bug, short } from '../answers';
import type { Known } from '../folders';
import { call, type Node, themed } from './nodes';

export function bugNodes({ folder, bugs }: Known): Node[] {
  return bugs.map((bug) => bugNode(folder, bug));
}

export function wrongBookNodes({ folder, bugs }: Known): Node[] {
  const wrong = bugs.filter((bug) => bug.wrong > 0);
  return wrong.map((bug) => ({ ...bugNode(folder, bug), description: `${bug.wrong} failed ${bug.wrong === 1 ? 'attempt' : 'attempts'} kept` }));
}

export function standing(bug: Bug): string {
  const solved = bug.attempts > 0 ? `solved ${bug.solved} of ${bug.attempts}` : 'no attempt yet';
  return bug.rating ? `${solved}, rated ${bug.rating}` : solved;
}

function bugNode(folder: string, bug: Bug): Node {
  const subject = { folder, artifact: bug.artifact };
  const id = short(bug.artifact);
  const where = bug.files.length === 1 ? bug.files[0]! : `${bug.files[0]} and ${bug.files.length - 1} more`;
  const parts: Node[] = [
    part('The bug', 'showBug', 'diff', bug.files.join(', '), subject),
    part('The weakening that hides it', 'showWeakening', 'diff-removed', bug.weakened.join(', '), subject),
    part('The reversed weakened test', 'showReversed', 'diff-added', 'all that a solver is told', subject),
  ];
  const tests: Node = {
    label: `${bug.failing.length} ${bug.failing.length === 1 ? 'test notices' : 'tests notice'} it`,
    icon: themed('beaker'),
    open: false,
    children: bug.failing.map((test) => ({ label: test, tooltip: test, icon: themed('circle-small') })),
  };
  return {
    id: `${folder}#${bug.artifact}`,
    label: where,
    description: `${standing(bug)} · ${id}`,
    tooltip: tooltip(bug),
    icon: bug.solved > 0 ? themed('pass', 'testing.iconPassed') : themed('bug', bug.attempts > 0 ? 'testing.iconFailed' : 'charts.yellow'),
    kind: 'bug',
    subject,
    open: false,
    children: [...parts, tests],
    spoken: `Bug ${id.slice(0, 6)} in ${where}, ${standing(bug)}`,
  };
}

function part(label: string, command: string, icon: string, description: string, subject: object): Node {
  return { label, description, icon: themed(icon), command: call(label, command, subject) };
}

function tooltip(bug: Bug): vscode.MarkdownString {
  const text = new vscode.MarkdownString(undefined, true);
  text.appendMarkdown(`**Bug** \`${short(bug.artifact)}\`, by strategy *${bug.strategy}*, order ${bug.order}\n\n`);
  text.appendMarkdown(`made ${new Date(bug.created * 1000).toLocaleString()}\n\n`);
  text.appendMarkdown(`${standing(bug)}; ${bug.failing.length} failing\n`);
  return text;
}
