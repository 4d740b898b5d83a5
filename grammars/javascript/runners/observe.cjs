'use strict';
// Runs tests on edits of one file and tells what the tests saw of them. Takes a request, writes one line of
// JSON an edit; see Reaction in src/runner/observe.rs.
//
// Every outermost function of the file is run inside of a recorder that stands at the file's end: a call's
// arguments, its result or what it threw, and what it left of its arguments and of `this`. Values are written
// down by Node's own `inspect` without getters. What differs between runs of the original is no evidence; what
// is the same in all of them and different in every run of the edit is.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, json } = require('./support.cjs');

const ORIGINALS = 3; // before the first edit; one more follows each edit that seems to differ
const AGAIN = 2; // runs of such an edit beside its first
const [, , request, output] = process.argv;
const { path: watched, bodies, files, excluded, edits, seconds } = json(request);
const dir = path.dirname(path.resolve(output));
const [tests, report, records] = ['tests.json', 'report', 'records'].map((name) => path.join(dir, name));
const original = fs.readFileSync(watched);
// No two versions of a file may share a time.
let clock = Math.floor(Date.now() / 1000) + 1000;

// What stands at the end of the file: a declaration, so that it is there before the file's first line runs.
const RECORDER = `
function ssrRecord(name, given, self, body, waits) {
  const state = ssrRecord.state || (ssrRecord.state = begin());
  function begin() {
    const builtin = (id) => (process.getBuiltinModule ? process.getBuiltinModule(id) : require(id));
    const { inspect } = builtin('node:util');
    const fs = builtin('node:fs');
    const options = { getters: false, customInspect: false, showProxy: true, depth: 4, maxArrayLength: 60, maxStringLength: 1000, sorted: true, breakLength: Infinity, compact: true };
    const show = (read) => {
      try {
        return inspect(read(), options).slice(0, 3000);
      } catch {
        return '(not there)';
      }
    };
    const calls = new Map();
    process.on('exit', () => {
      const file = process.env.SSR_RECORDS;
      if (file) fs.appendFileSync(file, JSON.stringify([process.pid, [...calls]]) + '\\n');
    });
    return { show, calls, depth: 0, left: 20000 };
  }
  const known = state.calls.get(name) || [];
  state.calls.set(name, known);
  const outside = state.depth === 0;
  const record = [outside, '', 'lost', '', ''];
  if (known.length < 200 && state.left-- > 0) {
    known.push(record);
    record[1] = state.show(given);
  }
  const after = (kind, value) => {
    record[2] = kind;
    record[3] = state.show(() => (kind === 'throws' && value instanceof Error ? [value.name, value.message] : value));
    record[4] = state.show(() => [given(), self()]);
  };
  state.depth++;
  try {
    const value = body();
    if (waits) {
      Promise.resolve(value).then((it) => after('resolves to', it), (error) => after('throws', error));
    } else after('returns', value);
    return value;
  } catch (error) {
    after('throws', error);
    throw error;
  } finally {
    state.depth--;
  }
}
`;

/** What stands before a function's parameters; `null` where it is a generator, whose body runs piece by piece. */
function opening(content, { head, start }) {
  const text = content.subarray(head, start).toString().replace(/\/\*[^]*?\*\/|\/\/.*/g, '').split(/\(|=>/)[0];
  return text.includes('*') ? null : text;
}

/** The text with a recorder around each body that can have one; `null` where there is none, or a name of ours. */
function woven(content, functions) {
  if (content.includes('ssrRecord')) return null;
  const parts = [];
  let at = 0;
  for (const found of functions) {
    const { name, start, end, parameters } = found;
    const before = opening(content, found);
    if (before === null) continue;
    const waits = /\basync\b/.test(before);
    const body = content.subarray(start, end).toString();
    const block = body.startsWith('{');
    const thunk = `${waits ? 'async ' : ''}() => ${block ? body : `(${body})`}`;
    const given = `() => [${parameters.join(', ')}]`;
    const call = `ssrRecord(${JSON.stringify(name)}, ${given}, () => this, ${thunk}, ${waits})`;
    parts.push(content.subarray(at, start), Buffer.from(block ? `{ return ${call}; }` : call));
    at = end;
  }
  if (parts.length === 0) return null;
  parts.push(content.subarray(at), Buffer.from(RECORDER));
  return Buffer.concat(parts);
}

/** Whether the edit is in a function whose calls are recorded. */
function isSeen(content, functions) {
  const text = (from, { head, end }) => from.subarray(head, end);
  const edited = functions.findIndex((found, at) => bodies[at] && !text(content, found).equals(text(original, bodies[at])));
  return functions.length === bodies.length && edited >= 0 && opening(content, functions[edited]) !== null;
}

function put(bytes) {
  fs.writeFileSync(watched, bytes);
  clock += 1;
  fs.utimesSync(watched, clock, clock);
}

/** Runs the driver; whether it ended in time. */
function drive(file) {
  return new Promise((resolve) => {
    fs.writeFileSync(tests, JSON.stringify({ files: [file], excluded }));
    const env = { ...process.env, SSR_SCREEN: '1', SSR_RECORDS: records };
    const child = spawn(process.execPath, [path.join(__dirname, 'driver.cjs'), tests, report], { cwd: ROOT, detached: true, env, stdio: 'ignore' });
    let late = false;
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Nobody is left.
      }
    };
    const timer = setTimeout(() => {
      late = true;
      end();
    }, seconds * 1000);
    child.on('exit', () => {
      clearTimeout(timer);
      end();
      setImmediate(() => resolve(!late));
    });
  });
}

const entries = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)) : []);

/** One run of all test files on a text: which tests passed, and the calls by test file and function. */
async function observed(bytes) {
  put(bytes);
  const found = { passed: new Set(), calls: new Map(), late: false, known: true };
  for (const file of files) {
    for (const old of [report, records]) fs.rmSync(old, { force: true });
    if (!(await drive(file))) found.late = true;
    try {
      const told = entries(report);
      const whole = told.some((entry) => entry.end !== undefined) && !told.some((entry) => entry.stopped);
      for (const { test, outcome } of told) if (whole && outcome === 'passed') found.passed.add(test);
      const noted = entries(records);
      // Of several processes none can tell which call came first.
      if (noted.length > 1) found.known = false;
      for (const [, calls] of noted) for (const [name, list] of calls) list.forEach((call, number) => found.calls.set(JSON.stringify([file, name, number]), call));
    } catch {
      found.known = false;
    }
    if (found.late) break;
  }
  put(original);
  return found;
}

/** What is the same in all runs. */
function stable(runs) {
  const kept = new Map();
  for (const [key, call] of runs[0].calls) {
    const text = JSON.stringify(call);
    if (runs.every((run) => JSON.stringify(run.calls.get(key)) === text)) kept.set(key, call);
  }
  return kept;
}

/** The first place where a run of the edit differs, calls from outside of the file first. */
function differences(before, after) {
  const found = [];
  for (const [key, call] of before) {
    const now = after.get(key);
    if (now && now[1] === call[1] && JSON.stringify(now) !== JSON.stringify(call) && now[2] !== 'lost') found.push(key);
  }
  return found.sort((one, other) => before.get(other)[0] - before.get(one)[0] || (one < other ? -1 : 1));
}

function shown(key, before, after) {
  const [test, name, number] = JSON.parse(key);
  const [old, now] = [before.get(key), after.get(key)];
  const result = old[2] !== now[2] || old[3] !== now[3];
  const part = (call) => (result ? `${call[2]} ${call[3]}` : `leaves ${call[4]}`);
  return { outcome: 'different', test, function: name, call: number + 1, arguments: old[1], kind: result ? 'result' : 'arguments', outside: old[0], before: part(old), after: part(now) };
}

async function main() {
  const out = fs.openSync(output, 'w');
  const tell = (reaction) => fs.writeSync(out, JSON.stringify(reaction) + '\n');
  const plain = await observed(original);
  const base = woven(original, bodies);
  const runs = [];
  while (base && runs.length < ORIGINALS) runs.push(await observed(base));
  // Where recorded tests do not pass as they do else, what they tell is no evidence.
  const fair = runs.length > 0 && runs.every((run) => run.known && [...plain.passed].every((test) => run.passed.has(test)));
  for (const edit of edits) {
    const content = Buffer.from(edit.content, 'base64');
    const text = fair && isSeen(content, edit.bodies) ? woven(content, edit.bodies) : null;
    const seen = await observed(text || content);
    if (seen.late) tell({ outcome: 'timeout' });
    else if ([...plain.passed].some((test) => !seen.passed.has(test))) tell({ outcome: 'failed' });
    else if (!text) tell({ outcome: 'unseen' });
    else tell(await compared(runs, text, seen, base));
  }
}

async function compared(runs, text, seen, base) {
  let first = differences(stable(runs), seen.calls);
  if (first.length === 0) return { outcome: 'same' };
  const again = [seen];
  while (again.length <= AGAIN) again.push(await observed(text));
  runs.push(await observed(base));
  const [before, after] = [stable(runs), stable(again)];
  first = differences(before, after);
  return first.length > 0 ? shown(first[0], before, after) : { outcome: 'unstable' };
}

main();
