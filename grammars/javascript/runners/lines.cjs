'use strict';
// Tells which lines each test executes. Takes a request, writes one line of JSON a test file.
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, json, run } = require('./support.cjs');

const [, , request, output] = process.argv;
const { files, skip, only } = json(request);
const dir = path.dirname(path.resolve(output));
const [tests, report, noted] = ['tests.json', 'report', 'noted'].map((name) => path.join(dir, name));
const entries = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)) : []);
const code = (lines) => Object.fromEntries(Object.entries(lines).filter(([file]) => !skip.includes(file)));
fs.writeFileSync(output, '');
for (const file of files) {
  for (const old of [report, noted]) fs.rmSync(old, { recursive: true, force: true });
  fs.writeFileSync(tests, JSON.stringify({ files: [file], excluded: [] }));
  const hook = path.join(__dirname, 'hook.cjs');
  run([path.join(__dirname, 'driver.cjs'), tests, report], ROOT, { SSR_HOOK: hook, SSR_LINES: noted, SSR_ROOT: ROOT });
  const ids = entries(report).filter((entry) => entry.test && entry.outcome !== 'skipped').map((entry) => entry.test);
  const found = { imports: {}, tests: {} };
  for (const { titles, lines, imports } of entries(noted)) {
    if (imports) Object.assign(found.imports, code(imports));
    if (!lines) continue;
    const whole = titles && [file, ...titles].join('::');
    const last = titles && `::${titles[titles.length - 1]}`;
    const named = ids.includes(whole) ? [whole] : ids.filter((id) => titles === null || id.endsWith(last));
    for (const id of named) found.tests[id] = { ...found.tests[id], ...code(lines) };
  }
  if (only) for (const id of Object.keys(found.tests)) if (!only.includes(id)) delete found.tests[id];
  fs.appendFileSync(output, JSON.stringify(found) + '\n');
}
