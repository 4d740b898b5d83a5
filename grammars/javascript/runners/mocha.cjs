'use strict';
// Runs mocha on the chosen files with the project's own settings; reads what a reporter of ours noted.
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, TELL, asked, call, homes, installed, json, told } = require('./support.cjs');

const REPORTER = `
${TELL}
module.exports = class {
  constructor(runner) {
    const hook = process.env.SSR_HOOK ? require(process.env.SSR_HOOK) : null;
    const titles = (test) => (test.titlePath ? test.titlePath() : [test.fullTitle()]);
    const file = (test) => { while (test && !test.file) test = test.parent; return test ? test.file : null; };
    const numbers = new Map();
    const add = (test, outcome) => {
      if (!numbers.has(test)) numbers.set(test, numbers.size);
      tell(numbers.get(test), file(test), titles(test), outcome, (test.duration || 0) / 1000);
    };
    runner.on('test', (test) => hook && hook.begin(file(test), titles(test)));
    runner.on('test end', () => hook && hook.end());
    runner.on('pass', (test) => add(test, 'passed'));
    runner.on('pending', (test) => add(test, 'skipped'));
    runner.on('fail', (test, error) => {
      console.log((error && (error.stack || error.message)) || String(error));
      add(test, test.type === 'hook' ? 'error' : 'failed');
    });
    runner.on('end', () => send('{"end":true}'));
  }
};
`;
// Which tests run, and how they are told, is ours to say.
const OURS = ['_', 'spec', 'ignore', 'exclude', 'reporter', 'R', 'reporter-option', 'reporterOption', 'reporterOptions',
  'reporter-options', 'O', 'parallel', 'p', 'jobs', 'j', 'watch', 'w', 'watchFiles', 'watch-files', 'watchIgnore',
  'watch-ignore', 'bail', 'b', 'grep', 'g', 'fgrep', 'f', 'invert', 'i', 'config', 'package', 'opts', 'dry-run', 'dryRun',
  'sort', 'S', 'list-files', 'forbid-only', 'forbidOnly', 'forbid-pending', 'forbidPending', 'color', 'c', 'colors',
  'diff', 'full-trace', 'fail-zero', 'failZero', 'pass-on-failing-test-suite'];

const { chosen, report, dir } = asked();
const reporter = path.join(dir, 'reporter.cjs');

/** The settings as mocha itself reads them: those of the package's own call, of .mocharc and package.json. */
function settings(home) {
  const reader = installed(home, 'mocha', 'lib/cli/options.js');
  if (!reader) return [];
  const own = call(json(path.join(home, 'package.json')), 'mocha') || { words: [] };
  process.chdir(home);
  const found = require(reader).loadOptions(own.words.filter((word) => word !== '--watch' && word !== '-w'));
  for (const name of OURS) delete found[name];
  const file = path.join(dir, 'mocharc.json');
  fs.writeFileSync(file, JSON.stringify(found));
  return ['--config', file, '--no-package', '--no-opts'];
}

/** What mocha tells of these files; `null` where it did not come to its end. */
function outcomes(program, flags, home, files) {
  fs.writeFileSync(reporter, REPORTER);
  const paths = files.map((file) => path.resolve(ROOT, file));
  const hook = process.env.SSR_HOOK ? ['--require', process.env.SSR_HOOK] : [];
  return told([...hook, program, ...flags, '--reporter', reporter, '--exit', ...paths], home, {}, dir).entries;
}

for (const [home, files] of homes(chosen.files, 'mocha', /^\.mocharc\.|^mocha\.opts$/)) {
  const program = installed(home, 'mocha', 'bin/mocha.js') || installed(home, 'mocha', 'bin/mocha');
  if (!program) {
    report.stop('mocha is not installed');
    continue;
  }
  const flags = settings(home);
  const together = outcomes(program, flags, home, files);
  // One file that cannot be loaded ends mocha before any test: then each is asked alone.
  const parts = together ? [[files, together]] : files.map((file) => [[file], outcomes(program, flags, home, [file])]);
  for (const [of, entries] of parts) {
    if (!entries) report.add(of[0], [], 'error');
    for (const { file, titles, outcome, seconds } of entries || []) report.add(file || of[0], titles, outcome, seconds);
  }
}
process.exitCode = report.end();
