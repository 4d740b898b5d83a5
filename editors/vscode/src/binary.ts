// Which `ssr-mcp` is started: the configured one, the bundled one, or the one on the PATH; and whether it will do.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';

/** The oldest server whose answers this extension reads. */
const AT_LEAST = [0, 1, 0];

export interface Binary {
  command: string;
  version: string;
  environment: Record<string, string>;
}

/** Why there is no server, in words for the person. */
export class NoBinary extends Error {}

export async function findBinary(context: vscode.ExtensionContext): Promise<Binary> {
  const settings = vscode.workspace.getConfiguration('ssrMcp');
  const environment = settings.get<Record<string, string>>('environment', {});
  const configured = settings.get<string>('path', '').trim();
  const bundled = path.join(context.extensionPath, 'bin', process.platform === 'win32' ? 'ssr-mcp.exe' : 'ssr-mcp');
  const command = configured || (existsSync(bundled) ? bundled : 'ssr-mcp');
  const version = await versionOf(command, configured !== '', environment);
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(version);
  if (!found) {
    throw new NoBinary(`${command} is not ssr-mcp: asked for its version it says "${version.slice(0, 80)}".`);
  }
  const numbers = found.slice(1).map(Number);
  if (isOlder(numbers, AT_LEAST)) {
    throw new NoBinary(`${command} is version ${found[0]}; this extension needs ${AT_LEAST.join('.')} or later.`);
  }
  return { command, version: found[0], environment };
}

function versionOf(command: string, configured: boolean, environment: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: 20_000, env: { ...process.env, ...environment } };
    execFile(command, ['--version'], options, (error, stdout) => {
      if (!error) return resolve(stdout.trim());
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        const where = configured ? `"ssrMcp.path" names ${command}, and there is no such file.` : 'ssr-mcp is not on the PATH of the editor.';
        return reject(new NoBinary(where));
      }
      return reject(new NoBinary(`${command} cannot be started: ${error.message}`));
    });
  });
}

export function isOlder(one: number[], other: number[]): boolean {
  for (let at = 0; at < other.length; at++) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
