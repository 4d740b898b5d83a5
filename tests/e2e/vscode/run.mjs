// Runs `suite.cjs` in the extension host of a real VS Code (code-server's), with the extension of this repository
// and a real browser in front of it.
//
//   node run.mjs --tools DIR --binary SSR_MCP [--env NAME=VALUE]... [--shots DIR] [--keep]
//
// DIR holds node_modules with code-server and playwright-core. Exit code 0: every step of the suite held.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../../..');
const { values } = parseArgs({
  options: {
    tools: { type: 'string' },
    binary: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
    shots: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
    minutes: { type: 'string', default: '10' },
    keep: { type: 'boolean', default: false },
  },
});
if (!values.tools || !values.binary) throw new Error('give --tools and --binary');
const tools = path.resolve(values.tools);
const { chromium } = createRequire(path.join(tools, 'package.json'))('playwright-core');

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'ssr-mcp-vscode-'));
const ledger = path.join(work, 'ledger');
fs.cpSync(path.join(root, 'examples/ledger'), ledger, { recursive: true });
fs.writeFileSync(path.join(work, 'play.code-workspace'), JSON.stringify({ folders: [{ path: 'ledger' }] }));

// Settings of the machine that the extension host is on.
const environment = Object.fromEntries(values.env.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
const settings = {
  'ssrMcp.path': path.resolve(values.binary),
  'ssrMcp.environment': { SSR_MCP_STATE_DIR: path.join(work, 'state'), ...environment },
  'ssrMcp.practice.openIn': 'workspace',
  'ssrMcp.trace.server': 'messages',
};
fs.mkdirSync(path.join(work, 'server/data/Machine'), { recursive: true });
fs.writeFileSync(path.join(work, 'server/data/Machine/settings.json'), JSON.stringify(settings));

const port = await freePort();
const host = `127.0.0.1:${port}`;
const talk = path.join(work, 'talk');
fs.mkdirSync(talk);
// The test driver is what makes a built VS Code heed the extension under test that the address names.
const server = spawn(
  process.execPath,
  [
    path.join(tools, 'node_modules/code-server/lib/vscode/out/server-main.js'),
    '--host', '127.0.0.1', '--port', String(port), '--without-connection-token', '--accept-server-license-terms',
    '--enable-smoke-test-driver', '--server-data-dir', path.join(work, 'server'), '--telemetry-level', 'off',
  ],
  {
    env: { ...process.env, HOME: work, SSR_MCP_TALK: talk, SSR_MCP_ORIGINAL: path.join(root, 'examples/ledger') },
    stdio: ['ignore', fs.openSync(path.join(work, 'server.log'), 'w'), fs.openSync(path.join(work, 'server.err'), 'w')],
    detached: true,
  },
);

let browser;
let code = 1;
try {
  await until(async () => (await fetch(`http://${host}/version`)).ok, 60_000, 'the server of VS Code');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  browser = await chromium.launch({ executablePath: values.chromium, args });
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  page.on('console', (message) => {
    if (/ssrMcp|ssr-mcp|SUITE/.test(message.text())) console.log(`  | ${message.text().slice(0, 400)}`);
  });
  const extension = `vscode-remote://${host}${root}/editors/vscode`;
  const payload = [
    ['extensionDevelopmentPath', extension],
    ['extensionTestsPath', `vscode-remote://${host}${here}/suite.cjs`],
    ['skipWelcome', 'true'],
    ['skipReleaseNotes', 'true'],
  ];
  const address = `http://${host}/?workspace=${work}/play.code-workspace&payload=${encodeURIComponent(JSON.stringify(payload))}`;
  await page.goto(address, { waitUntil: 'commit', timeout: 120_000 });
  await page.waitForSelector('.monaco-workbench', { timeout: 180_000 });
  code = await follow(page);
} catch (error) {
  console.error(String(error?.stack ?? error));
} finally {
  await browser?.close().catch(() => undefined);
  try {
    process.kill(-server.pid, 'SIGTERM');
    await Promise.race([once(server, 'exit'), new Promise((done) => setTimeout(done, 5000))]);
  } catch {
    // It is gone already.
  }
  if (values.keep || code !== 0) console.log(`left in ${work}`);
  else fs.rmSync(work, { recursive: true, force: true, maxRetries: 3 });
}
process.exit(code);

/** Does what the suite asks for, one request after the other, until it says how it went. */
async function follow(page) {
  const end = Date.now() + Number(values.minutes) * 60_000;
  for (let number = 0; Date.now() < end; ) {
    const trust = page.locator('.monaco-dialog-box .monaco-button', { hasText: /^Yes|Trust/ });
    if (await trust.count()) await trust.first().click().catch(() => undefined);
    const asked = path.join(talk, `${number}.json`);
    if (!fs.existsSync(asked)) {
      await new Promise((done) => setTimeout(done, 100));
      continue;
    }
    number += 1;
    const { kind, ...request } = JSON.parse(fs.readFileSync(asked, 'utf8'));
    if (kind === 'step') console.log(`ok  ${request.text}`);
    if (kind === 'end') {
      console.log(request.ok ? 'all steps held' : `FAILED: ${request.text}`);
      if (!request.ok) await page.screenshot({ path: path.join(work, 'failed.png') });
      return request.ok ? 0 : 1;
    }
    if (kind === 'keys') for (const key of request.keys) await page.keyboard.press(key);
    if (kind === 'widen') {
      const sash = await page.locator('.monaco-sash.vertical').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
      const from = sash.find((x) => x > 200 && x < 500) ?? 349;
      await page.mouse.move(from + 2, 500);
      await page.mouse.down();
      await page.mouse.move(from + 92, 500, { steps: 4 });
      await page.mouse.up();
    }
    if (kind === 'theme') await page.emulateMedia({ colorScheme: request.theme });
    if (kind === 'click') await page.locator(request.selector).first().click({ timeout: 5000 }).catch((error) => console.log(String(error).slice(0, 200)));
    if (kind === 'shot' && values.shots) {
      fs.mkdirSync(values.shots, { recursive: true });
      const box = request.selector && (await page.locator(request.selector).first().boundingBox());
      await page.screenshot({ path: path.join(values.shots, `${request.name}.png`), ...(box ? { clip: box } : {}) });
    }
    fs.writeFileSync(`${asked}.done`, '');
  }
  await page.screenshot({ path: path.join(work, 'late.png') });
  console.log('FAILED: the suite did not end in time');
  return 1;
}

async function until(holds, patience, what) {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    if (await holds().catch(() => false)) return;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error(`${what} did not come up`);
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}
