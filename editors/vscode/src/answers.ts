// What the server answers, as far as it is shown. The shapes are the server's; nothing is worked out here.

export interface Begun {
  job: string;
  state: 'running';
}

export interface JobLine<T = unknown> {
  job: string;
  tool: string;
  state: 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';
  seconds: number;
  progress: string;
  result: T | null;
  error: string | null;
  /** The end in one sentence; only in `ssrMcp/jobEnded`. */
  said?: string;
}

export interface Bug {
  artifact: string;
  strategy: string;
  order: number;
  created: number;
  failing: string[];
  attempts: number;
  solved: number;
  wrong: number;
  rating: string | null;
  hidden: boolean;
  files: string[];
  weakened: string[];
}

export interface Bugs {
  folder: string;
  bugs: Bug[];
}

export interface Rating {
  rating: number;
  deviation: number;
  games: number;
  text: string;
}

export interface Behaviour {
  file: string;
  test: string | null;
  line: number;
  missing: string[];
  instead: string[];
  text: string;
}

export interface Hint {
  rung: string;
  text: string;
  file?: string | null;
  line?: number | null;
}

export interface Player {
  player: string;
  solved: boolean;
  text: string;
}

export interface Practice {
  practice: string;
  state: 'open' | 'solved' | 'given_up';
  artifact: string;
  tree: string;
  broken: Behaviour[];
  oracle: string;
  framework: string;
  command: string;
  why: string;
  changed: string[];
  left_out: string[];
  problem: string | null;
  hints: Hint[];
  hints_left: number;
  checks: number;
  seconds: number;
  active_seconds: number;
  rating: Rating;
  bug_rating: Rating;
  players: Player[];
}

export interface PracticeLine {
  practice: string;
  state: 'open' | 'solved' | 'given_up';
  artifact: string;
  tree: string;
  begun: number;
  ended: number | null;
  hints: number;
  checks: number;
  score: number | null;
  seconds: number;
  active_seconds: number;
}

export interface Practices {
  practices: PracticeLine[];
  due: { family: string; step: number; due: number; due_in: number }[];
}

export interface PracticeRun {
  practice: string;
  green: boolean;
  passed: number;
  failing: string[];
  verdicts: { test: string; outcome: string }[];
  problem: string | null;
  tests: string;
  log: string;
  run_seconds: number;
}

export interface PracticeCheck {
  practice: string;
  solved: boolean;
  reason: string;
  code: string;
  rating: Rating;
  rating_before: Rating;
  rated: boolean;
  score: number | null;
  active_seconds: number;
  next: string;
}

export interface PracticeHint {
  practice: string;
  hint: Hint;
  hints: Hint[];
  hints_left: number;
  best_score: number;
}

export interface PracticeReveal {
  practice: string;
  state: string;
  artifact: string;
  strategy: string;
  explanation: string;
  places: { file: string; function: string | null; line: number; kind: string; was: string[]; is: string[] }[];
  diff: string;
  repair: string;
  families: string[];
  score: number;
  rated: boolean;
  rating: Rating;
  bug_rating: Rating;
  players: Player[];
  active_seconds: number;
}

export interface Ratings {
  solved: number;
  given_up: number;
  open: number;
  median_seconds: number | null;
  hints: number;
  rating: Rating;
  families: { family: string; solved: number; given_up: number; median_seconds: number | null; due_in: number | null }[];
  players: { player: string; rating: Rating; tried: number; solved: number }[];
  series: { at: number; rating: number; deviation: number; score: number; bug_rating: number; artifact: string }[];
}

export interface RunTests {
  outcomes: Record<string, string>;
  passed: number;
  failing: string[];
  problem: string | null;
  log: string;
}

export interface Injected {
  artifact: string | null;
  valid: boolean;
  summary: string;
}

export interface Rewards {
  artifact: string;
  reason: string;
}

export const isBegun = (answer: unknown): answer is Begun =>
  typeof answer === 'object' && answer !== null && 'job' in answer && (answer as Begun).state === 'running';

/** An artifact's id as people are shown it. */
export const short = (id: string): string => id.slice(0, 12);

export const duration = (seconds: number): string => {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
};
