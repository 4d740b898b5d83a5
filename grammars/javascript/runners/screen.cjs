'use strict';
// Tries candidate repairs: each is laid over the tree and the driver runs in a process group of its own.
// Takes a request, writes one line of JSON a candidate; ends after the first that passes every test. A
// filter only: what passes here is run again.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { json } = require('./support.cjs');

const [, , request, output] = process.argv;
const { candidates, tests, files, seconds } = json(request);
const dir = path.dirname(path.resolve(output));
const [chosen, report] = ['tests.json', 'report'].map((name) => path.join(dir, name));
// No two versions of a file may share a time.
let clock = Math.floor(Date.now() / 1000) + 1000;

function put(file, bytes, mode) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, bytes);
  if (mode !== undefined) fs.chmodSync(file, mode);
  clock += 1;
  fs.utimesSync(file, clock, clock);
}

/** Lays files over the tree; what it gives back takes them away again. */
function lay(changes) {
  const saved = [];
  for (const [file, content] of Object.entries(changes)) {
    const there = fs.existsSync(file);
    saved.push([file, there ? fs.readFileSync(file) : null, there ? fs.statSync(file).mode & 0o777 : 0]);
    if (content !== null) put(file, Buffer.from(content, 'base64'));
    else if (there) fs.unlinkSync(file);
  }
  return () => {
    for (const [file, bytes, mode] of saved.reverse()) {
      if (bytes !== null) put(file, bytes, mode);
      else fs.rmSync(file, { force: true });
    }
  };
}

/** Runs the driver; what it printed, or `null` where the time was up. */
function drive() {
  return new Promise((resolve) => {
    const env = { ...process.env, SSR_SCREEN: '1' };
    const child = spawn(process.execPath, [path.join(__dirname, 'driver.cjs'), chosen, report], { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
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
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => said.length < 500 && said.push(data));
    child.on('exit', () => {
      clearTimeout(timer);
      end();
      setImmediate(() => resolve(late ? null : Buffer.concat(said).toString()));
    });
  });
}

/** Where the wanted tests stopped, where only one did: a line of a test file that the output names. */
function stages(said, failed) {
  const lines = [];
  for (const file of files) {
    for (const part of said.split(file + ':').slice(1)) {
      const line = /^\d+/.exec(part);
      if (line) lines.push(Number(line[0]));
    }
  }
  return failed.length === 1 && lines.length > 0 ? { [failed[0]]: [Math.max(...lines), true] } : {};
}

async function main() {
  fs.writeFileSync(chosen, JSON.stringify({ files, excluded: [] }));
  const out = fs.openSync(output, 'w');
  for (const changes of candidates) {
    fs.rmSync(report, { force: true });
    const restore = lay(changes);
    const said = await drive();
    restore();
    let entries = [];
    try {
      entries = said === null ? [] : fs.readFileSync(report, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
    } catch {
      entries = [];
    }
    const whole = entries.some((entry) => entry.end !== undefined) && !entries.some((entry) => entry.stopped);
    const good = new Set(entries.filter((entry) => entry.outcome === 'passed').map((entry) => entry.test));
    const passed = whole ? tests.filter((test) => good.has(test)).sort() : [];
    const failed = tests.filter((test) => !good.has(test));
    fs.writeSync(out, JSON.stringify({ passed, timed_out: said === null, stages: stages(said || '', failed) }) + '\n');
    if (passed.length === tests.length) break;
  }
}

main();
