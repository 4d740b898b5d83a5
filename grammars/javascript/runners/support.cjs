'use strict';
// What the drivers of JavaScript's test frameworks share: which package a test file belongs to, how that
// package calls its framework, and the report: one line of JSON a test, then their number.
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

const ROOT = process.cwd();

function json(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** The directory and those above it, up to the root of the tree. */
function* upwards(directory) {
  for (;;) {
    yield directory;
    if (directory === ROOT || directory === path.dirname(directory)) return;
    directory = path.dirname(directory);
  }
}

/** Words of the first command among a package's scripts that calls a tool: its variables, its arguments. */
function call(manifest, tool) {
  const scripts = (manifest && manifest.scripts) || {};
  const rank = (name) => (name === 'test' ? 0 : name.startsWith('test') || name.includes('unit') ? 1 : 2);
  const names = Object.keys(scripts).sort((one, other) => rank(one) - rank(other));
  for (const name of names) {
    for (const command of String(scripts[name]).split(/&&|\|\||[;|]/)) {
      const words = (command.match(/"[^"]*"|'[^']*'|\S+/g) || []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
      const at = words.findIndex((word) => path.basename(word).replace(/\.[cm]?js$/, '') === tool);
      if (at < 0) continue;
      const assigned = words.slice(0, at).map((word) => /^([A-Za-z_]\w*)=(.*)$/.exec(word)).filter(Boolean);
      return { env: Object.fromEntries(assigned.map((found) => [found[1], found[2]])), before: words.slice(0, at), words: words.slice(at + 1) };
    }
  }
  return null;
}

/** Where the framework is called for a test file: the nearest package that calls it or has settings for
 * it, else the nearest that depends on it, else the root. */
function home(file, tool, settings) {
  let depends = null;
  for (const directory of upwards(path.dirname(path.resolve(ROOT, file)))) {
    const manifest = json(path.join(directory, 'package.json'));
    if (!manifest) continue;
    const own = fs.readdirSync(directory).some((name) => settings.test(name));
    if (own || manifest[tool] || call(manifest, tool)) return directory;
    const all = { ...manifest.dependencies, ...manifest.devDependencies };
    if (!depends && tool in all) depends = directory;
  }
  return depends || ROOT;
}

/** The files by the directory that their framework is called in. */
function homes(files, tool, settings) {
  const found = new Map();
  for (const file of files) {
    if (!fs.existsSync(path.resolve(ROOT, file))) continue;
    const directory = home(file, tool, settings);
    found.set(directory, [...(found.get(directory) || []), file]);
  }
  return found;
}

/** A file of an installed package, as Node looks for packages. `null` where it is not installed. */
function installed(directory, name, file) {
  for (let at = directory; ; at = path.dirname(at)) {
    const found = path.join(at, 'node_modules', name, file);
    if (fs.existsSync(found)) return found;
    if (at === path.dirname(at)) return null;
  }
}

/** Of a call's arguments those that say how tests are run: `kept` maps an option to whether a value
 * follows. What chooses tests, prints, watches or measures is left out. */
function options(words, kept) {
  const left = [];
  for (let at = 0; at < words.length; at++) {
    const [name, ...rest] = words[at].split('=');
    if (!(name in kept)) continue;
    left.push(words[at]);
    if (kept[name] && rest.length === 0 && at + 1 < words.length) left.push(words[++at]);
  }
  return left;
}

class Report {
  constructor(file, { files, excluded, times }) {
    this.out = fs.openSync(file, 'w');
    this.chosen = new Set(files);
    this.excluded = new Set(excluded);
    this.times = times;
    this.lines = 0;
    this.bad = false;
  }

  write(line) {
    fs.writeSync(this.out, JSON.stringify(line) + '\n');
  }

  /** `file`: absolute or relative to the root; no titles where the file itself is meant. */
  add(file, titles, outcome, seconds) {
    const name = path.relative(ROOT, path.resolve(ROOT, file)).split(path.sep).join('/');
    const test = [name, ...titles].map((part) => String(part).toWellFormed?.() ?? String(part)).join('::');
    if (!this.chosen.has(name) || this.excluded.has(test)) return;
    this.bad ||= outcome === 'failed' || outcome === 'error';
    this.write(this.times && seconds !== undefined ? { test, outcome, seconds } : { test, outcome });
    this.lines++;
  }

  stop(reason) {
    this.write({ stopped: reason });
    this.bad = true;
  }

  end() {
    this.write({ end: this.lines });
    return this.bad ? 1 : 0;
  }
}

/** What the driver is asked for, and where it tells. */
function asked() {
  const [, , tests, report] = process.argv;
  const chosen = json(tests);
  return { chosen, report: new Report(report, chosen), dir: path.dirname(path.resolve(report)) };
}

/** Runs Node.js on a program in a directory and waits; what it prints is shown. */
function run(args, directory, env = {}) {
  return wait(args, directory, env, ['ignore', 'inherit', 'inherit']).status;
}

function wait(args, directory, env, stdio) {
  const done = spawnSync(process.execPath, args, {
    cwd: directory,
    env: { ...process.env, CI: 'true', NO_COLOR: '1', FORCE_COLOR: '0', ...env },
    stdio,
    maxBuffer: 1 << 28,
  });
  return { status: done.error || done.signal ? String(done.error || done.signal) : done.status, output: done.output || [] };
}

/** Begins a reporter's program: `tell` sends an outcome to this process while tests go on, by a pipe on
 * descriptor `PIPE`: what was told cannot be taken back. Nothing that tests may replace later is used. A
 * program that starts another one for its tests has no such pipe there; then a file is appended to. */
const PIPE = 9;
const TELL = `
const { appendFileSync, fstatSync, writeSync } = require('node:fs');
const quote = JSON.stringify;
const FILE = process.env.SSR_REPORT;
delete process.env.SSR_REPORT;
const piped = (() => {
  try {
    return fstatSync(${PIPE}).isSocket() || fstatSync(${PIPE}).isFIFO();
  } catch {
    return false;
  }
})();
function tell(number, file, titles, outcome, seconds) {
  let text = '';
  for (let at = 0; at < titles.length; at++) text += (at ? ',' : '') + quote('' + titles[at]);
  send('{"number":' + number + ',"file":' + quote(file || '') + ',"titles":[' + text + '],"outcome":"' + outcome + '","seconds":' + (+seconds || 0) + '}');
}
function send(line) {
  if (!piped) return appendFileSync(FILE, line + '\\n');
  let rest = new Uint8Array(Buffer.from(line + '\\n'));
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(${PIPE}, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}
`;

/** What a program's reporter tells, and how the program ended. `null` for the entries where it did not come
 * to its end, or ended as one whose tests failed though it told of none. */
function told(args, directory, env, dir, pipe = PIPE) {
  const file = path.join(dir, 'told');
  fs.rmSync(file, { recursive: true, force: true });
  const stdio = Array.from({ length: pipe + 1 }, (_, at) => (at === pipe ? 'pipe' : at === 0 || at > 2 ? 'ignore' : 'inherit'));
  const { status, output } = wait(args, directory, { ...env, SSR_REPORT: file }, stdio);
  const text = String(output[pipe] || '') || (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');
  const entries = lines(text);
  const bad = (entry) => entry.outcome === 'failed' || entry.outcome === 'error';
  return { status, entries: entries && (status === 0 || entries.some(bad)) ? entries : null };
}

/** The lines that a reporter of ours told, the last of each test, but a failure stays one; `null` where it
 * did not come to its end. */
function lines(text) {
  const found = new Map();
  let ended = false;
  for (const line of text.split('\n').filter((line) => line.startsWith('{"'))) {
    let entry;
    try {
      entry = JSON.parse(line);
    } catch {
      return null;
    }
    if (ended) return null;
    ended = entry.end === true;
    const before = found.get(entry.number);
    const bad = before && before.outcome !== 'passed' && before.outcome !== 'skipped';
    if (!ended && !bad) found.set(entry.number ?? found.size, entry);
  }
  return ended ? [...found.values()] : null;
}

/** Files of the tree that processes executed, by the coverage that they left in a directory. */
function executed(directory) {
  const files = new Set();
  for (const name of fs.existsSync(directory) ? fs.readdirSync(directory) : []) {
    const { result = [] } = json(path.join(directory, name)) || {};
    for (const { url, functions } of result) {
      if (!url.startsWith('file://')) continue;
      const file = path.relative(ROOT, fileURLToPath(url)).split(path.sep).join('/');
      const ran = functions.some(({ ranges }) => ranges.some(({ count }) => count > 0));
      if (!ran || file.startsWith('../') || path.isAbsolute(file)) continue;
      if (!/(^|\/)node_modules\//.test(file)) files.add(file);
    }
  }
  return [...files].sort();
}

module.exports = { ROOT, TELL, asked, call, executed, homes, installed, json, options, run, told };
