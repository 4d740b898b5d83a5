'use strict';
// Runs test files of tap or tape, one process each, and reads the TAP that they print. Points must be
// numbered without a gap and as many as planned: a line printed by anybody else spoils the file.
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, asked, call, homes, installed, json, options } = require('./support.cjs');

// What code prints by `console` goes where no TAP is read; tape itself prints so.
const QUIET = `
if (!process.env.SSR_TAPE) {
const { Console } = require('node:console');
globalThis.console = Object.assign(new Console(process.stderr, process.stderr), { Console });
}
if (process.env.SSR_HOOK) {
  process.env.SSR_WHOLE = '1';
  require(process.env.SSR_HOOK);
}
`;
const KEPT = { '-r': true, '--require': true, '--import': true, '--loader': true };
const POINT = /^(not )?ok (\d+)(?: -)?(?: (.*))?$/;

function directive(text) {
  const [, name, kind] = /^(.*?)(?:\s*(?<!\\)#\s*(skip|todo|time=)\S*.*)?$/i.exec(text || '');
  return { name: name.replace(/\\#/g, '#').trim(), skipped: /^(skip|todo)/i.test(kind || '') };
}

/** The lines of one level with those of the level below them, which stand before their point. */
class Level {
  constructor() {
    this.points = [];
    this.plan = null;
    this.group = null; // tape: the comment that names the test
    this.below = null; // tap: the subtest that was read last
    this.broken = '';
  }

  line(text) {
    const point = POINT.exec(text);
    const plan = /^1\.\.(\d+)/.exec(text);
    if (point) {
      if (Number(point[2]) !== this.points.length + 1) this.broken ||= `point ${point[2]} is out of order`;
      this.points.push({ ok: !point[1], ...directive(point[3]), group: this.group, below: this.below });
      this.below = null;
    } else if (plan) {
      if (this.plan !== null) this.broken ||= 'it has two plans';
      this.plan = Number(plan[1]);
      if (this.points.length > 0) this.group = undefined; // what follows is tape's summary
    } else if (/^# (?!Subtest)/.test(text) && this.group !== undefined) {
      const skip = /^SKIP (.*)$/.exec(text.slice(2));
      const { name, skipped } = directive(skip ? skip[1] : text.slice(2));
      this.group = { name, skipped: skipped || Boolean(skip) };
      this.groups = [...(this.groups || []), this.group];
    }
  }

  check() {
    if (this.plan === null) return this.broken || 'it has no plan: the process died before its end';
    return this.broken || (this.plan === this.points.length ? '' : `${this.plan} points were planned, ${this.points.length} seen`);
  }
}

/** The outcome of each test in a file's TAP: of tap its subtests, of tape what its comments name; points
 * that belong to neither stand for the file. */
function outcomes(text) {
  const top = new Level();
  const open = [top];
  for (const line of text.split('\n')) {
    const depth = Math.floor(/^ */.exec(line)[0].length / 4);
    const bare = line.slice(4 * depth).trimEnd();
    if (/^# Subtest/.test(bare) && depth > 0) {
      open.length = depth;
      open[depth] = new Level();
      if (open[depth - 1]) open[depth - 1].below = open[depth];
      continue;
    }
    if (/^# Subtest/.test(bare) || !/^(not )?ok |^1\.\.|^# /.test(bare)) continue;
    if (depth > 0 && !open[depth]) {
      open[depth] = new Level();
      if (open[depth - 1]) open[depth - 1].below = open[depth];
    }
    if (open[depth]) open[depth].line(bare);
    open.length = Math.min(open.length, depth + 1);
  }
  const found = [];
  const walk = (level, titles) => {
    for (const { ok, name, skipped, below } of level.points) {
      if (!below) continue;
      walk(below, [...titles, name]);
      const bad = below.plan === null || below.broken;
      found.push({ titles: [...titles, name], outcome: ok && bad ? 'error' : ok ? (skipped ? 'skipped' : 'passed') : 'failed' });
    }
  };
  walk(top, []);
  const loose = top.points.filter((point) => !point.below);
  for (const group of top.groups || []) {
    const own = loose.filter((point) => point.group === group);
    if (own.length === 0 && !group.skipped) continue;
    const failed = own.some((point) => !point.ok && !point.skipped);
    found.push({ titles: [group.name], outcome: failed ? 'failed' : group.skipped ? 'skipped' : 'passed' });
  }
  const bare = loose.filter((point) => !point.group);
  if (bare.length > 0) found.push({ titles: [], outcome: bare.every((point) => point.ok || point.skipped) ? 'passed' : 'failed' });
  return { found, broken: top.check() };
}

const { chosen, report, dir } = asked();
const quiet = path.join(dir, 'quiet.cjs');
fs.writeFileSync(quiet, QUIET);
for (const [home, files] of homes(chosen.files, 'tap', /^\.taprc$/)) {
  const manifest = json(path.join(home, 'package.json'));
  const own = call(manifest, 'tape') || call(manifest, 'tap') || call(manifest, 'node') || { words: [], env: {} };
  for (const file of files) {
    const args = ['--require', quiet, ...options(own.words, KEPT), path.resolve(ROOT, file)];
    const env = { ...process.env, CI: 'true', NO_COLOR: '1', TAP: '1', ...own.env };
    if (!installed(home, 'tap', 'package.json')) env.SSR_TAPE = '1';
    const done = spawnSync(process.execPath, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28 });
    const text = String(done.stdout || '');
    process.stdout.write(text);
    const { found, broken } = outcomes(text);
    const failed = found.some((test) => test.outcome === 'failed' || test.outcome === 'error');
    for (const { titles, outcome } of found) report.add(file, titles, broken && outcome === 'passed' ? 'error' : outcome);
    // A process that ends badly though every point is good failed in something else.
    if (broken || (done.status !== 0 && !failed)) {
      console.log(`${file}: ${broken || `ended with ${done.signal || `status ${done.status}`}`}`);
      report.add(file, [], 'error');
    }
  }
}
process.exitCode = report.end();
