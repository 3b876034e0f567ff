import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as node from 'vscode-jsonrpc/node';
import type * as vscodeLanguageserverProtocol from 'vscode-languageserver-protocol';
import type { ServerProblem, ServerStart } from '../protocol.ts';
import { pathOf, readTextFile, uriOf } from './text-file.ts';
import { TreeChanges } from './tree-changes.ts';

/** Most open documents. The document with the longest wait for a question is closed. */
const maxOpen = 32;
const maxWords = 2000;
/** Errors of the connection itself. The others are answers. */
const ownCodes: ReadonlySet<number> = new Set([
  node.ErrorCodes.MessageWriteError,
  node.ErrorCodes.MessageReadError,
  node.ErrorCodes.PendingResponseRejected,
  node.ErrorCodes.ConnectionInactive,
]);

interface OpenDocument {
  version: number;
  text: string;
}

/** Diagnostics sent by a server without a request. */
interface Published {
  items: readonly vscodeLanguageserverProtocol.Diagnostic[];
  version: number | undefined;
}

/** The question has no answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code: ServerProblem['code'];

  constructor(code: ServerProblem['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A running language server, and its view of the tree. */
export class LanguageServer {
  readonly #start: ServerStart;
  readonly #process: ChildProcess;
  readonly #connection: node.MessageConnection;
  readonly #documents = new Map<string, OpenDocument>();
  readonly #published = new Map<string, Published>();
  /** Tokens of the server's unfinished work. */
  readonly #work = new Set<string | number>();
  readonly #changes: TreeChanges;
  #heard = () => {};
  #capabilities: vscodeLanguageserverProtocol.ServerCapabilities = {};
  #deadline = 0;
  #words = '';
  /** How the server broke the protocol. */
  #broke: string | undefined;
  #hasEnded = false;

  /** @throws NoAnswer when the server does not start within `waitMs` */
  static async start(start: ServerStart, waitMs: number): Promise<LanguageServer> {
    const server = new LanguageServer(start);
    server.setDeadline(waitMs);
    await server.#initialize();
    return server;
  }

  private constructor(start: ServerStart) {
    this.#start = start;
    this.#changes = new TreeChanges(start.root, start.watches);
    const [program, ...args] = start.argv;
    this.#process = spawn(program === 'node' ? process.execPath : program, args, {
      cwd: start.root,
      env: { ...process.env, ...start.env },
    });
    const { stdin, stdout, stderr } = this.#process;
    if (stdin === null || stdout === null || stderr === null) throw new Error('the server has no streams');
    stderr.on('data', (chunk: Buffer) => {
      this.#words = `${this.#words}${chunk}`.slice(-maxWords);
    });
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
    this.#process.on('error', (error) => this.#end(error.message));
    this.#process.on('close', (code, signal) => {
      this.#end(code === null && this.#broke ? this.#broke : `it ended with ${signal ?? `exit code ${code}`}`);
    });
    this.#connection = node.createMessageConnection(
      new node.StreamMessageReader(stdout),
      new node.StreamMessageWriter(stdin),
    );
    // Its last words may still come.
    this.#connection.onError(([error]) => {
      this.#broke ??= error.message;
      this.#process.kill('SIGKILL');
    });
    this.#listen();
    this.#connection.listen();
  }

  /** True when the process is gone, or broke the protocol. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get capabilities(): vscodeLanguageserverProtocol.ServerCapabilities {
    return this.#capabilities;
  }

  /** The files of its languages in the tree, absolute. */
  get files(): string[] {
    return this.#changes.files;
  }

  /** Each wait until the next call ends by then. */
  setDeadline(waitMs: number): void {
    this.#deadline = performance.now() + waitMs;
  }

  /** Reports the files changed since the last question to the server, and waits for the server's own work. */
  async catchUp(): Promise<void> {
    const changes = this.#changes.sinceLastLook();
    if (changes.length > 0) await this.#notify('workspace/didChangeWatchedFiles', { changes });
    for (const uri of [...this.#documents.keys()]) {
      const file = readTextFile(pathOf(uri) ?? '');
      if (file === undefined) await this.#close(uri);
      else await this.#show(uri, file.text);
    }
    await this.until(() => this.#work.size === 0).catch(() => {});
  }

  /** Opens a document, or replaces its text. */
  async open(path: string, text: string): Promise<void> {
    const uri = uriOf(path);
    await this.#show(uri, text);
    const oldest = this.#documents.keys().next().value;
    if (this.#documents.size > maxOpen && oldest !== undefined) await this.#close(oldest);
  }

  /** @throws NoAnswer when there is no answer in time, or the server refuses */
  async ask<Result>(method: string, params: unknown): Promise<Result> {
    return await this.#within(async () => this.#connection.sendRequest<Result>(method, params), method);
  }

  /** The diagnostics that the server sent for the present text of a document. */
  async published(path: string): Promise<readonly vscodeLanguageserverProtocol.Diagnostic[]> {
    const uri = uriOf(path);
    const found = () => {
      const published = this.#published.get(uri);
      const version = this.#documents.get(uri)?.version;
      return published !== undefined && (published.version ?? version) === version ? published.items : undefined;
    };
    await this.until(() => found() !== undefined);
    return found() ?? [];
  }

  /** Waits for a state that a message of the server brings. @throws NoAnswer */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#within(() => new Promise<void>((heard) => (this.#heard = heard)), 'a message');
  }

  async #initialize(): Promise<void> {
    const { root, options } = this.#start;
    const uri = pathToFileURL(root).href;
    const params: vscodeLanguageserverProtocol.InitializeParams = {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: 'workspace' }],
      initializationOptions: options,
      capabilities: clientCapabilities,
    };
    const { capabilities } = await this.ask<vscodeLanguageserverProtocol.InitializeResult>('initialize', params);
    this.#capabilities = capabilities;
    await this.#notify('initialized', {});
  }

  #listen(): void {
    const connection = this.#connection;
    connection.onRequest('workspace/configuration', ({ items }: { items: { section?: string }[] }) =>
      items.map(({ section = '' }) => this.#start.settings[section] ?? null),
    );
    connection.onRequest('workspace/workspaceFolders', () => null);
    connection.onRequest('client/registerCapability', () => null);
    connection.onRequest('client/unregisterCapability', () => null);
    connection.onRequest('workspace/applyEdit', () => ({ applied: false }));
    for (const kind of ['diagnostic', 'semanticTokens', 'inlayHint', 'codeLens'])
      connection.onRequest(`workspace/${kind}/refresh`, () => null);
    connection.onRequest('window/workDoneProgress/create', () => null);
    connection.onRequest('window/showMessageRequest', () => null);
    connection.onNotification(
      '$/progress',
      ({ token, value }: { token: string | number; value: { kind?: string } }) => {
        if (value.kind === 'begin') this.#work.add(token);
        if (value.kind === 'end') this.#work.delete(token);
        this.#heard();
      },
    );
    connection.onNotification(
      'textDocument/publishDiagnostics',
      ({ uri, version, diagnostics }: vscodeLanguageserverProtocol.PublishDiagnosticsParams) => {
        this.#published.set(uri, { items: diagnostics, version });
        this.#heard();
      },
    );
  }

  async #show(uri: string, text: string): Promise<void> {
    const open = this.#documents.get(uri);
    if (open?.text === text) return;
    const version = (open?.version ?? 0) + 1;
    this.#published.delete(uri);
    this.#documents.delete(uri);
    this.#documents.set(uri, { version, text });
    await (open === undefined
      ? this.#notify('textDocument/didOpen', {
          textDocument: { uri, version, text, languageId: languageIds[extname(uri)] ?? 'plaintext' },
        })
      : this.#notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] }));
  }

  async #close(uri: string): Promise<void> {
    this.#documents.delete(uri);
    this.#published.delete(uri);
    await this.#notify('textDocument/didClose', { textDocument: { uri } });
  }

  async #notify(method: string, params: unknown): Promise<void> {
    await this.#within(async () => this.#connection.sendNotification(method, params), method);
  }

  #end(how: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#words = `${how}${this.#words === '' ? '' : `: ${this.#words}`}`;
    this.#process.kill('SIGKILL');
    this.#process.emit('lost');
    this.#heard();
  }

  /**
   * @param work async, because the connection throws at once when the pipe of the server is closed
   * @throws NoAnswer when the server ends first, or time is up
   */
  async #within<Result>(work: () => Promise<Result>, what: string): Promise<Result> {
    const { name } = this.#start;
    const over = new AbortController();
    const gone = () => new NoAnswer('ESERVER', `${name} cannot be used here: ${this.#words.trim()}`);
    const ended = once(this.#process, 'lost', { signal: over.signal }).then(() => {
      throw gone();
    });
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(
        () => reject(new NoAnswer('ETIMEOUT', `${name} did not answer ${what} in time.`)),
        Math.max(0, this.#deadline - performance.now()),
      );
      over.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    ended.catch(() => {});
    // A pipe breaks before the server's last words are read.
    const answered = work().catch((error: unknown) => {
      if (error instanceof node.ResponseError && !ownCodes.has(error.code))
        throw new NoAnswer('EREFUSED', `${name} refused: ${error.message}`);
      return ended;
    });
    answered.catch(() => {});
    try {
      if (this.#hasEnded) throw gone();
      return await Promise.race([answered, ended, late]);
    } finally {
      over.abort();
    }
  }
}

const languageIds: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'typescriptreact',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascriptreact',
  '.py': 'python',
  '.pyi': 'python',
  '.go': 'go',
  '.rs': 'rust',
};

const clientCapabilities: vscodeLanguageserverProtocol.InitializeParams['capabilities'] = {
  general: { positionEncodings: ['utf-16'] },
  window: { workDoneProgress: true },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    didChangeWatchedFiles: { dynamicRegistration: true },
    workspaceEdit: { documentChanges: true },
  },
  textDocument: {
    synchronization: {},
    definition: { linkSupport: true },
    references: {},
    rename: { prepareSupport: false },
    diagnostic: {},
    publishDiagnostics: { versionSupport: true },
  },
};
