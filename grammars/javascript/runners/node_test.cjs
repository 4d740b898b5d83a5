'use strict';
// Runs Node's own test runner on the chosen files; a reporter of ours, in the process that starts theirs,
// notes what it is told.
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, asked, call, homes, json, options, told } = require('./support.cjs');

const REPORTER = `
module.exports = async function* (source) {
  const open = new Map();
  for await (const { type, data } of source) {
    const names = open.get(data.file) || [];
    open.set(data.file, names);
    if (type === 'test:start') {
      names.length = data.nesting;
      names[data.nesting] = data.name;
    } else if (type === 'test:pass' || type === 'test:fail') {
      const { error, type: kind, duration_ms } = data.details;
      const failed = type === 'test:fail' && data.todo === undefined;
      if (failed && error) console.error((error.cause && error.cause.stack) || (error.cause && error.cause.message) || error.message);
      const why = (error && error.failureType) || '';
      // A suite is told where its hooks failed; that its tests did is told of them.
      if (kind === 'suite' && (!failed || why === 'subtestsFailed')) continue;
      const skipped = data.skip !== undefined || data.todo !== undefined;
      const outcome = failed ? (kind === 'suite' || why === 'hookFailed' ? 'error' : 'failed') : skipped ? 'skipped' : 'passed';
      yield JSON.stringify({ file: data.file, titles: [...names.slice(0, data.nesting), data.name], outcome, seconds: duration_ms / 1000 }) + '\\n';
    }
  }
  yield JSON.stringify({ end: true }) + '\\n';
};
`;
const KEPT = { '--import': true, '-r': true, '--require': true, '--loader': true, '--experimental-loader': true,
  '-C': true, '--conditions': true, '--env-file': true, '--experimental-vm-modules': false, '--expose-gc': false,
  '--experimental-strip-types': false, '--experimental-transform-types': false, '--experimental-test-module-mocks': false,
  '--experimental-sqlite': false, '--enable-source-maps': false, '--no-warnings': false };

const { chosen, report, dir } = asked();
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 18 || (major === 18 && minor < 15)) {
  report.stop(`node:test needs Node.js 18.15 or later to tell its outcomes, this is ${process.version}`);
  process.exit(report.end());
}
const reporter = path.join(dir, 'reporter.cjs');
for (const [home, files] of homes(chosen.files, 'node', /^$/)) {
  const manifest = json(path.join(home, 'package.json'));
  const own = call(manifest, 'node') || { words: [], env: {} };
  const flags = options(own.words, KEPT);
  if (call(manifest, 'tsx') && !flags.includes('tsx')) flags.push('--import', 'tsx');
  // From 21 on it takes patterns: a wildcard matches itself, and what else it matches is not told.
  const plain = (file) => (major < 21 ? file : file.replace(/[[\]{}()*?\\]/g, '?'));
  // One file of a mere trial runs in the process that tells of it.
  const direct = process.env.SSR_SCREEN && files.length === 1;
  const paths = files.map((file) => path.resolve(ROOT, file)).map((file) => (direct ? file : plain(file)));
  fs.writeFileSync(reporter, REPORTER);
  const destination = direct ? path.join(dir, 'told') : 'stdout';
  const args = [...flags, ...(direct ? [] : ['--test']), `--test-reporter=${reporter}`, `--test-reporter-destination=${destination}`, ...paths];
  const preload = process.env.SSR_HOOK ? { NODE_OPTIONS: `--require=${process.env.SSR_HOOK}` } : {};
  // Its standard output is the reporter's alone: what files print comes to it as data.
  const { status, entries } = told(args, home, { ...own.env, ...preload }, dir, direct ? undefined : 1);
  if (!entries) {
    report.stop(`node --test ended with status ${status} before its tests did`);
    continue;
  }
  for (const { file, titles, outcome, seconds } of entries) {
    // The file itself is told where it could not be run or holds no test.
    const whole = titles.length === 1 && path.resolve(ROOT, titles[0]) === path.resolve(ROOT, file || titles[0]);
    if (whole && outcome === 'passed') continue;
    report.add(file || titles[0], whole ? [] : titles, whole && outcome === 'failed' ? 'error' : outcome, seconds);
  }
}
process.exitCode = report.end();
