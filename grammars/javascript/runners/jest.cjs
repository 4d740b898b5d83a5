'use strict';
// Runs jest on the chosen files with the project's own settings; a reporter of ours notes its outcomes.
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, TELL, asked, call, homes, installed, json, options, told } = require('./support.cjs');

const REPORTER = `
${TELL}
let number = 0;
module.exports = class {
  constructor() { if (process.env.SSR_HOOK) require(process.env.SSR_HOOK); }
  onTestCaseResult(test, { ancestorTitles, title }) {
    if (process.env.SSR_HOOK) require(process.env.SSR_HOOK).over(test.path, [...ancestorTitles, title]);
  }
  onTestResult(test, result) {
    const file = test.path;
    if (result.testExecError || (result.failureMessage && result.testResults.length === 0)) {
      console.error(result.failureMessage || String(result.testExecError && result.testExecError.message));
      tell(number++, file, [], 'error', 0);
    }
    for (const { ancestorTitles, title, status, failureMessages, duration } of result.testResults) {
      if (status === 'failed') console.error(failureMessages.join('\\n'));
      const outcome = status === 'passed' || status === 'failed' ? status : 'skipped';
      tell(number++, file, [...ancestorTitles, title], outcome, (duration || 0) / 1000);
    }
  }
  onRunComplete() { send('{"end":true}'); }
};
`;
const KEPT = { '--config': true, '-c': true, '--env': true, '--testEnvironment': true, '--rootDir': true, '--projects': true,
  '--preset': true, '--setupFiles': true, '--setupFilesAfterEnv': true, '--transform': true, '--resolver': true,
  '--moduleNameMapper': true, '--globals': true, '--testTimeout': true, '--selectProjects': true, '--timers': true };
// Among the words before `jest` in a script, those of Node.
const NODE = { '--experimental-vm-modules': false, '--no-warnings': false, '--import': true, '-r': true, '--require': true };

const { chosen, report, dir } = asked();
const reporter = path.join(dir, 'reporter.cjs');
for (const [home, files] of homes(chosen.files, 'jest', /^jest\.config\./)) {
  const program = installed(home, 'jest', 'bin/jest.js');
  if (!program) {
    report.stop('jest is not installed');
    continue;
  }
  const own = call(json(path.join(home, 'package.json')), 'jest') || { before: [], words: [], env: {} };
  fs.writeFileSync(reporter, REPORTER);
  const env = { ...own.env };
  const args = [...options(own.before, NODE), ...(own.env.NODE_OPTIONS || '').split(' ').filter(Boolean), program,
    ...options(own.words, KEPT), '--ci', '--runInBand', '--watchAll=false', '--coverage=false', '--silent=false', '--bail=0',
    '--forceExit', '--passWithNoTests', process.env.SSR_JEST_CACHE ? `--cacheDirectory=${process.env.SSR_JEST_CACHE}` : '--no-cache', `--reporters=${reporter}`,
    '--runTestsByPath', ...files.map((file) => path.resolve(ROOT, file))];
  delete env.NODE_OPTIONS;
  const { status, entries } = told(args, home, env, dir);
  if (!entries) {
    report.stop(`jest ended with status ${status} before its tests did`);
    continue;
  }
  for (const { file, titles, outcome, seconds } of entries) report.add(file, titles, outcome, seconds);
}
process.exitCode = report.end();
