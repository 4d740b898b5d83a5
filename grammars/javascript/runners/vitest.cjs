'use strict';
// Runs vitest on the chosen files with the project's own settings and reads its JSON report.
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, asked, call, homes, installed, json, options, run } = require('./support.cjs');

const KEPT = { '--config': true, '-c': true, '--root': true, '-r': true, '--dir': true, '--environment': true, '--globals': false,
  '--pool': true, '--project': true, '--workspace': true, '-w': true, '--mode': true, '--testTimeout': true,
  '--hookTimeout': true, '--dom': false, '--no-isolate': false, '--isolate': false };

const { chosen, report, dir } = asked();
// A worker is ended by a signal; where it is watched it must come to its own end.
const WATCHED = `
if (process.send) process.on('SIGTERM', () => process.exit(0));
if (process.send && process.env.SSR_HOOK) {
  process.env.SSR_WHOLE = '1';
  require(process.env.SSR_HOOK);
}
`;
const watched = {};
if (process.env.NODE_V8_COVERAGE || process.env.SSR_HOOK) {
  fs.writeFileSync(path.join(dir, 'watched.cjs'), WATCHED);
  watched.NODE_OPTIONS = `--require=${path.join(dir, 'watched.cjs')}`;
}

for (const [home, files] of homes(chosen.files, 'vitest', /^vitest\.(config|workspace)\./)) {
  const program = installed(home, 'vitest', 'vitest.mjs');
  if (!program) {
    report.stop('vitest is not installed');
    continue;
  }
  const own = call(json(path.join(home, 'package.json')), 'vitest') || { words: [], env: {} };
  const found = path.join(dir, 'found.json');
  fs.rmSync(found, { force: true });
  const args = [program, 'run', ...options(own.words, KEPT), '--reporter=default', '--reporter=json',
    `--outputFile.json=${found}`, '--watch=false', '--coverage.enabled=false', '--bail=0', '--passWithNoTests',
    '--dangerouslyIgnoreUnhandledErrors',    '--no-file-parallelism', ...(watched.NODE_OPTIONS ? ['--pool=forks'] : []), ...files.map((file) => path.relative(home, path.resolve(ROOT, file)))];
  const status = run(args, home, { ...own.env, ...watched });
  const told = json(found);
  const bad = ({ status: whole, assertionResults }) => whole === 'failed' || assertionResults.some((result) => result.status === 'failed');
  // What a test leaves behind may have changed the file since; it cannot change how vitest ended.
  if (!told || !Array.isArray(told.testResults) || (status !== 0 && !told.testResults.some(bad))) {
    report.stop(`vitest ended with status ${status} before its tests did`);
    continue;
  }
  for (const { name, status: whole, assertionResults } of told.testResults) {
    if (whole === 'failed' && assertionResults.every((result) => result.status !== 'failed')) report.add(name, [], 'error');
    for (const { ancestorTitles, title, status: word, duration } of assertionResults) {
      const outcome = word === 'passed' || word === 'failed' ? word : 'skipped';
      report.add(name, [...ancestorTitles.filter(Boolean), title], outcome, (duration || 0) / 1000);
    }
  }
}
process.exitCode = report.end();
