'use strict';
// Loaded into a process that runs tests: notes which lines of the tree each of them executes, in the terms
// of the sources that were compiled. One line of JSON a test; a process that tells no test apart notes
// itself as one.
const fs = require('node:fs');
const inspector = require('node:inspector');
const { SourceMap } = require('node:module');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

// The process that starts the others has no inspector, and runs no test.
if (process.execArgv.includes('--test') && !process.env.NODE_TEST_CONTEXT) return;

const ROOT = process.env.SSR_ROOT;
const OUT = process.env.SSR_LINES;
const session = new inspector.Session();
const scripts = new Map();
let current = null;
let began = false;

function post(method, params) {
  let answer = {};
  session.post(method, params, (error, result) => { answer = result || {}; });
  return answer;
}

session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.sourceMapURL || ''));
session.connect();
post('Debugger.enable');
post('Profiler.enable');
post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** Path below the root of a script of the tree. */
function own(url) {
  let file = url;
  try {
    if (url.startsWith('file:')) file = fileURLToPath(url);
  } catch {
    return null;
  }
  const name = path.relative(ROOT, file).split(path.sep).join('/');
  return path.isAbsolute(file) && !name.startsWith('../') && !/(^|\/)node_modules\//.test(name) ? name : null;
}

const known = new Map();
/** Where each line of a script begins, and what its lines were compiled from. */
function shape(id) {
  if (known.has(id)) return known.get(id);
  const text = post('Debugger.getScriptSource', { scriptId: id }).scriptSource || '';
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const data = /^data:application\/json[^,]*;base64,(.*)$/.exec(scripts.get(id) || '');
  let map = null;
  try {
    map = data && new SourceMap(JSON.parse(Buffer.from(data[1], 'base64').toString()));
  } catch {
    map = null;
  }
  const found = { text, starts, map };
  known.set(id, found);
  return found;
}

/** 1-based lines of the source with code that ran. */
function lines(id, functions) {
  const { text, starts, map } = shape(id);
  const counts = new Int32Array(text.length);
  const ranges = functions.flatMap((found) => found.ranges);
  ranges.sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
  for (const { startOffset, endOffset, count } of ranges) counts.fill(count, startOffset, endOffset);
  const ran = new Set();
  for (let line = 0; line < starts.length; line++) {
    const end = line + 1 < starts.length ? starts[line + 1] - 1 : text.length;
    for (let at = starts[line]; at < end; at++) {
      if (!counts[at] || /[\s{}()[\];,]/.test(text[at])) continue;
      const entry = map ? map.findEntry(line, at - starts[line]) : { originalLine: line };
      if (entry.originalLine !== undefined) ran.add(entry.originalLine + 1);
      if (!map) break;
    }
  }
  return [...ran].sort((one, other) => one - other);
}

/** What ran since it was asked the last time. */
function taken() {
  const files = {};
  for (const { scriptId, url, functions } of post('Profiler.takePreciseCoverage').result || []) {
    const file = own(url);
    if (!file || !functions.some(({ ranges }) => ranges.some(({ count }) => count > 0))) continue;
    const ran = lines(scriptId, functions);
    if (ran.length > 0) files[file] = ran;
  }
  return files;
}

function write(entry) {
  fs.appendFileSync(OUT, JSON.stringify(entry) + '\n');
}

exports.begin = (file, titles) => {
  if (began) taken();
  else write({ file, imports: taken() });
  began = true;
  current = { file, titles };
};

exports.end = () => {
  if (current) write({ ...current, lines: taken() });
  current = null;
};

/** For what tells only when a test is over. */
exports.over = (file, titles) => write({ file, titles, lines: taken() });

process.on('exit', () => {
  if (!began && process.env.SSR_WHOLE) write({ titles: null, lines: taken() });
});

if (process.env.NODE_TEST_CONTEXT) {
  const test = require('node:test');
  test.beforeEach((context) => exports.begin(process.argv[1], [context.name]));
  test.afterEach(() => exports.end());
}
