// The language client: one for all workspace folders, started once the workspace is trusted.

import * as vscode from 'vscode';
import { ExecuteCommandRequest, LanguageClient, State } from 'vscode-languageclient/node';
import { isBegun, type JobLine } from './answers';
import { type Binary, findBinary, NoBinary } from './binary';

const LANGUAGES = [
  'c', 'cpp', 'csharp', 'go', 'java', 'javascript', 'javascriptreact', 'php', 'python', 'ruby', 'rust', 'typescript',
  'typescriptreact',
];

/** What of a round is begun by our own commands, whoever asks: they save the tree first, ask back, and show the answer. */
const OURS = new Set(['practiceRun', 'practiceCheck', 'practiceRace', 'practiceHint', 'practiceGiveUp', 'practiceReveal']);

/** Whether the server knows what the document holds. */
export const isOfOurs = ({ uri, languageId }: vscode.TextDocument): boolean => uri.scheme === 'file' && LANGUAGES.includes(languageId);

/** A job with the folder that it is of. */
export interface Running {
  job: string;
  folder: string | undefined;
  command: string;
  progress?: string;
}

type Argument = Record<string, unknown>;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;
  private readonly log = vscode.window.createOutputChannel('Self-play (ssr-mcp)', { log: true });
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly progressed = new vscode.EventEmitter<void>();
  private readonly ended = new vscode.EventEmitter<JobLine>();
  private readonly asked = new vscode.EventEmitter<{ command: string; argument: Argument; answer: unknown }>();
  /** Jobs that ended: an end may be told before the answer that names its job is read. */
  private readonly over = new Map<string, JobLine>();
  /** Jobs whose end somebody shows. */
  private readonly quiet = new Set<string>();

  readonly running = new Map<string, Running>();
  binary: Binary | undefined;
  /** Why there is no server. */
  problem: string | undefined;

  /** What is kept, or what is running, is another now. */
  readonly onChanged = this.changed.event;
  /** A job got on. */
  readonly onProgress = this.progressed.event;
  readonly onJobEnded = this.ended.event;
  /** A command that an action or a lens carried was answered. */
  readonly onAsked = this.asked.event;

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Starts once; later calls wait for the first. Throws with words for the person. */
  async started(): Promise<void> {
    if (!vscode.workspace.isTrusted) throw new NoBinary('Nothing is started until you trust this workspace.');
    this.starting ??= this.start();
    return this.starting;
  }

  isRunning(): boolean {
    return this.client?.state === State.Running;
  }

  async restart(): Promise<void> {
    await this.starting?.catch(() => undefined);
    const client = this.client;
    this.client = undefined;
    this.starting = undefined;
    this.running.clear();
    if (client) await client.dispose().catch((error: unknown) => this.log.warn(String(error)));
    await this.started();
  }

  showLog(): void {
    this.log.show(true);
  }

  write(text: string): void {
    this.log.info(text);
  }

  /** Asks the server for a command of its own. */
  async ask<T>(command: string, argument: Argument = {}): Promise<T> {
    await this.started();
    if (!this.client) throw new NoBinary(this.problem ?? 'The server is not running.');
    const params = { command: `ssrMcp.${command}`, arguments: [argument] };
    const answer: unknown = await this.client.sendRequest(ExecuteCommandRequest.type, params);
    this.note(command, argument, answer);
    return answer as T;
  }

  /** Begins a job and waits for its end, which is shown by nobody else if `quiet`. */
  async job<T>(command: string, argument: Argument, quiet = false, token?: vscode.CancellationToken): Promise<JobLine<T>> {
    const answer = await this.ask<unknown>(command, argument);
    if (!isBegun(answer)) throw new Error(`the server began no job for ${command}`);
    const { job } = answer;
    if (quiet) this.quiet.add(job);
    token?.onCancellationRequested(() => void this.ask('cancel', { folder: argument['folder'], job }).catch(() => undefined));
    const over = this.over.get(job);
    if (over) return over as JobLine<T>;
    return new Promise((resolve) => {
      const waiting = this.ended.event((line) => {
        if (line.job !== job) return;
        waiting.dispose();
        resolve(line as JobLine<T>);
      });
    });
  }

  isQuiet(job: string): boolean {
    return this.quiet.delete(job);
  }

  dispose(): void {
    void this.client?.dispose().catch(() => undefined);
    this.log.dispose();
    this.changed.dispose();
    this.progressed.dispose();
    this.ended.dispose();
    this.asked.dispose();
  }

  private async start(): Promise<void> {
    try {
      this.binary = await findBinary(this.context);
      this.client = this.make(this.binary);
      await this.client.start();
      this.problem = undefined;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.log.error(this.problem);
      throw error;
    } finally {
      await vscode.commands.executeCommand('setContext', 'ssrMcp.running', this.isRunning());
      await vscode.commands.executeCommand('setContext', 'ssrMcp.problem', this.problem !== undefined);
      this.changed.fire();
    }
  }

  private make(binary: Binary): LanguageClient {
    const run = {
      command: binary.command,
      args: ['lsp'],
      options: { env: { ...process.env, ...binary.environment } },
    };
    const client = new LanguageClient('ssrMcp', 'Self-play (ssr-mcp)', run, {
      documentSelector: LANGUAGES.map((language) => ({ scheme: 'file', language })),
      outputChannel: this.log,
      initializationOptions: { ssrMcp: JSON.parse(JSON.stringify(vscode.workspace.getConfiguration('ssrMcp'))) as object },
      synchronize: { configurationSection: 'ssrMcp' },
      diagnosticPullOptions: { onChange: true, onSave: true },
      middleware: {
        // The server's commands are registered by the language client, under their own names: those of actions
        // and lenses. What a person calls has names of its own, `ssrMcp.ui.*`.
        executeCommand: async (command, args, next) => {
          const argument = (args[0] ?? {}) as Argument;
          const name = command.slice('ssrMcp.'.length);
          if (OURS.has(name)) return vscode.commands.executeCommand(`ssrMcp.ui.${name}`, argument);
          const answer: unknown = await next(command, args);
          this.note(name, argument, answer);
          this.asked.fire({ command: name, argument, answer });
          return answer;
        },
        handleWorkDoneProgress: (token, params, next) => {
          const running = this.running.get(String(token).replace('ssr-mcp-', ''));
          if (running && params.kind !== 'end' && params.message) {
            running.progress = params.message;
            this.progressed.fire();
          }
          next(token, params);
        },
      },
    });
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object), ssrMcp: true, ssrMcpSays: true };
      },
      initialize: () => undefined,
      getState: () => ({ kind: 'static' }),
      clear: () => undefined,
    });
    client.onNotification('ssrMcp/changed', () => this.changed.fire());
    client.onNotification('ssrMcp/jobEnded', (line: JobLine) => {
      this.running.delete(line.job);
      this.over.set(line.job, line);
      this.ended.fire(line);
      this.changed.fire();
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Stopped) this.running.clear();
      void vscode.commands.executeCommand('setContext', 'ssrMcp.running', newState === State.Running);
      this.changed.fire();
    });
    return client;
  }

  private note(command: string, argument: Argument, answer: unknown): void {
    if (!isBegun(answer) || this.over.has(answer.job)) return;
    const folder = typeof argument['folder'] === 'string' ? argument['folder'] : undefined;
    this.running.set(answer.job, { job: answer.job, folder, command });
    this.changed.fire();
  }
}
