// Rounds of practice: the open ones with all that a solver sees, those that are over, and what comes back.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { duration, type Behaviour, type Practice, type PracticeLine } from '../answers';
import type { Known } from '../folders';
import { call, type Node, themed } from './nodes';

/** Rounds that are over and listed. */
const LISTED = 20;

export function practiceNodes({ folder, open, practices }: Known): Node[] {
  const rounds = open.map((round) => openNode(folder, round));
  const over = practices.practices.filter(({ state }) => state !== 'open');
  const nodes = [...rounds];
  if (over.length > 0) {
    nodes.push({
      id: `${folder}#over`,
      label: 'Rounds that are over',
      description: String(over.length),
      icon: themed('history'),
      open: open.length === 0,
      children: over.slice(0, LISTED).map((round) => overNode(folder, round)),
    });
  }
  if (practices.due.length > 0) {
    nodes.push({
      id: `${folder}#due`,
      label: 'Kinds of bug that come back',
      description: String(practices.due.length),
      icon: themed('calendar'),
      open: false,
      children: practices.due.map(({ family, due_in }) => ({
        label: family,
        description: due_in === 0 ? 'due now' : `due in ${duration(due_in)}`,
        icon: themed(due_in === 0 ? 'bell-dot' : 'clock'),
      })),
    });
  }
  return nodes;
}

function openNode(folder: string, round: Practice): Node {
  const subject = { folder, practice: round.practice };
  const short = round.practice.slice(0, 8);
  const broken: Node = {
    id: `${round.practice}#broken`,
    label: 'What is broken',
    description: String(round.broken.length),
    icon: themed('bug', 'testing.iconFailed'),
    children: round.broken.map((behaviour) => behaviourNode(round.tree, behaviour)),
  };
  const hints: Node = {
    id: `${round.practice}#hints`,
    label: 'Hints',
    description: round.hints_left > 0 ? `${round.hints.length} taken, ${round.hints_left} left` : 'all taken',
    icon: themed('lightbulb'),
    kind: round.hints_left > 0 ? 'hints-open' : 'hints',
    subject,
    children: round.hints.map(({ rung, text, file, line }) => ({
      label: text,
      tooltip: text,
      description: rung,
      icon: themed('circle-small'),
      ...(file ? { command: call('Open', 'openBehaviour', round.tree, { file, line: line ?? 1 }) } : {}),
    })),
  };
  const changed: Node = {
    id: `${round.practice}#changed`,
    label: 'Files that you changed',
    description: round.problem ?? String(round.changed.length),
    icon: themed('edit'),
    children: round.changed.map((file) => ({
      label: file,
      icon: themed('file'),
      command: call('Open', 'openBehaviour', round.tree, { file, line: 1 }),
    })),
  };
  const left: Node[] = round.left_out.map((text) => ({ label: text, tooltip: text, icon: themed('warning') }));
  const rating: Node = {
    label: 'Ratings',
    description: `you ${round.rating.text}, this bug ${round.bug_rating.text}`,
    icon: themed('graph-line'),
    command: { title: 'Show', command: 'ssrMcp.ratings.focus' },
  };
  return {
    id: round.practice,
    label: `Round ${short}`,
    description: duration(round.active_seconds) + (round.checks > 0 ? `, ${round.checks} ${round.checks === 1 ? 'check' : 'checks'}` : ''),
    tooltip: new vscode.MarkdownString(`${round.why}\n\nTree: \`${round.tree}\`\n\nTests: \`${round.command}\``),
    icon: themed('mortar-board', 'charts.blue'),
    kind: 'round-open',
    subject,
    children: [broken, hints, changed, ...left, rating],
  };
}

function behaviourNode(tree: string, behaviour: Behaviour): Node {
  return {
    label: behaviour.test ?? path.basename(behaviour.file),
    description: `${behaviour.file}:${behaviour.line}`,
    tooltip: behaviour.text,
    icon: themed('circle-small'),
    command: call('Open', 'openBehaviour', tree, behaviour),
    spoken: behaviour.text,
  };
}

function overNode(folder: string, round: PracticeLine): Node {
  const solved = round.state === 'solved';
  const hints = round.hints === 0 ? '' : `, ${round.hints} ${round.hints === 1 ? 'hint' : 'hints'}`;
  return {
    id: round.practice,
    label: solved ? `Solved in ${duration(round.active_seconds)}` : `Given up after ${duration(round.active_seconds)}`,
    description: `${round.practice.slice(0, 8)}${hints}`,
    tooltip: `begun ${new Date(round.begun * 1000).toLocaleString()}`,
    icon: solved ? themed('pass', 'testing.iconPassed') : themed('circle-slash', 'testing.iconSkipped'),
    kind: 'round-over',
    subject: { folder, practice: round.practice },
    command: call('Reveal the bug', 'practiceReveal', { folder, practice: round.practice }),
  };
}
