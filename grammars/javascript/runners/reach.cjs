'use strict';
// Tells which files the tests of each test file execute: every file is run alone, in a process that
// notes what it loads. Takes a request, writes for each file those it reached and the seconds of its tests.
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, json, run, executed } = require('./support.cjs');

const [, , request, output] = process.argv;
const dir = path.dirname(path.resolve(output));
const found = {};
for (const file of json(request).files) {
  const noted = path.join(dir, 'noted');
  const tests = path.join(dir, 'tests.json');
  const report = path.join(dir, 'report');
  fs.rmSync(noted, { recursive: true, force: true });
  fs.rmSync(report, { recursive: true, force: true });
  fs.writeFileSync(tests, JSON.stringify({ files: [file], excluded: [], times: true }));
  run([path.join(__dirname, 'driver.cjs'), tests, report], ROOT, { NODE_V8_COVERAGE: noted });
  const seconds = {};
  for (const line of fs.existsSync(report) ? fs.readFileSync(report, 'utf8').split('\n') : []) {
    const entry = line ? JSON.parse(line) : {};
    if (entry.test) seconds[entry.test] = entry.seconds || 0;
  }
  const executes = executed(noted);
  // Where not even the test file was noted, or processes are started, it may have reached anything.
  const starts = executes.some((name) => /child_process|execa|cross-spawn/.test(fs.readFileSync(name, 'utf8')));
  const files = executes.includes(file) && !starts ? executes : null;
  found[file] = { files: files || [], everything: !files, seconds };
}
fs.writeFileSync(output, JSON.stringify(found));
