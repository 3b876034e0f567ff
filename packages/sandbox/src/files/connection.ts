import type { Writable } from 'node:stream';
import { SandboxError } from '../errors.ts';
import type { OperationName, Operations } from '../inside/tool-host/protocol.ts';
import { resolveLimits } from '../limits.ts';
import type { WorkspaceMount } from '../port.ts';
import { setupError, startTree } from '../run-command.ts';
import type { Driver, Tree } from '../tree.ts';
import { FrameReader } from './frame-reader.ts';
import { type ParsedReply, parseReply } from './reply-schema.ts';

export interface ConnectionDeps {
  driver: Driver;
  toolHostIdleMs: number;
  fileRequestMs: number;
}

/** Above what a tool host lists at once (`MOST_LISTED_BYTES`); a longer line is a violation. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;
/** Node takes 0.6 GiB of writable addresses to start; the data of one request is held a few times over. */
const MEMORY_BYTES = 2048 * 1024 * 1024;

/** With the content that followed it. */
type Answer = Exclude<ParsedReply, { failed: string }> & { content: Buffer };
const NO_CONTENT = Buffer.alloc(0);

interface Pending {
  /** How much content may follow. */
  maxBytes: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
  timer: NodeJS.Timeout;
}

/** One tool host process and the requests that are open with it. Ends when unused, on any violation, and on `close`. */
export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #tree: Tree;
  readonly #pending = new Map<number, Pending>();
  readonly #stderr: Buffer[] = [];
  /** Its content has not arrived whole. */
  #before: { pending: Pending; reply: Exclude<ParsedReply, { failed: string }> } | undefined;
  #nextId = 1;
  #idle: NodeJS.Timeout | undefined;
  #failure: SandboxError | null = null;
  /** Resolves when the process is dead. */
  readonly ended: Promise<void>;

  constructor(deps: ConnectionDeps, workspace: WorkspaceMount) {
    this.#deps = deps;
    this.#tree = startTree(deps.driver, {
      workspace,
      label: null,
      argv: [
        deps.driver.node,
        '--disable-warning=ExperimentalWarning',
        deps.driver.toolHost,
        deps.driver.root(workspace),
      ],
      cwd: '.',
      env: {},
      egress: null,
      // seconds of CPU add up over its life, which has no end while it is used
      limits: resolveLimits({ cpu_seconds: 1_000_000, memory_bytes: MEMORY_BYTES, processes: 64 }),
      stdin: null,
      toolHost: true,
    });
    const frames = new FrameReader(
      MAX_LINE_BYTES,
      (line) => this.#receive(line),
      (content) => this.#receiveContent(content),
    );
    this.#tree.stdout.on('data', (chunk: Buffer) => {
      if (this.#failure === null && !frames.push(chunk)) this.#violate('a line is too long');
    });
    this.#tree.stderr.on('data', (chunk: Buffer) => {
      if (this.#stderr.length < 16) this.#stderr.push(chunk.subarray(0, 4096));
    });
    for (const stream of [this.#tree.stdout, this.#tree.stderr, this.#tree.stdin]) stream?.on('error', () => {});
    this.ended = this.#end();
    this.#rest();
  }

  /** False once it ended or is about to: use another one. */
  get usable(): boolean {
    return this.#failure === null;
  }

  /** Rejects with `SandboxError` when the process ends first, or with the signal's reason. */
  request<Name extends OperationName>(operation: Name, input: Operations[Name]['input'], signal?: AbortSignal) {
    return new Promise<Answer>((resolve, reject) => {
      const maxBytes = 'max_bytes' in input ? input.max_bytes : 0;
      if (signal?.aborted) return reject(signal.reason);
      if (this.#failure) return reject(this.#failure);
      const id = this.#nextId++;
      const forget = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#pending.delete(id);
        this.#rest();
      };
      const onAbort = () => {
        reject(signal?.reason);
        // what it answers later has no reader; a write may still happen, which `killAll` prevents
        this.#pending.set(id, { maxBytes, resolve: forget, reject: forget, timer });
      };
      const timer = setTimeout(
        () => this.#fail('ETOOLHOSTTIMEOUT', `did not answer within ${this.#deps.fileRequestMs} ms`),
        this.#deps.fileRequestMs,
      );
      const settle =
        <Value>(then: (value: Value) => void) =>
        (value: Value) => {
          forget();
          then(value);
        };
      this.#pending.set(id, { maxBytes, resolve: settle(resolve), reject: settle(reject), timer });
      signal?.addEventListener('abort', onAbort, { once: true });
      clearTimeout(this.#idle);
      if (this.#tree.stdin) writeRequest(this.#tree.stdin, { id, operation, input });
    });
  }

  /** A reply that is well formed but says what cannot be. */
  violate(what: string): SandboxError {
    return this.#violate(what);
  }

  async close(): Promise<void> {
    this.#fail('ETOOLHOSTLOST', 'was stopped');
    await this.ended;
  }

  /** @returns how many bytes of content follow */
  #receive(line: Buffer): number {
    if (this.#failure) return 0;
    const reply = parseReply(line);
    const pending = reply && this.#pending.get(reply.id);
    if (!reply || !pending) {
      this.#violate('a line is not the reply to an open request');
    } else if ('failed' in reply) {
      pending.reject(
        new SandboxError('ETOOLHOSTLOST', `The tool host could not do its work: ${reply.failed}`, {
          retryable: true,
          next: 'Look at the disk and the limits of the workspace host.',
        }),
      );
    } else if ('output' in reply && reply.data !== undefined) {
      if (reply.data > pending.maxBytes) {
        this.#violate('more content follows than was asked for');
      } else if (reply.data > 0) {
        this.#before = { pending, reply };
        return reply.data;
      } else pending.resolve({ ...reply, content: NO_CONTENT });
    } else {
      pending.resolve({ ...reply, content: NO_CONTENT });
    }
    return 0;
  }

  #receiveContent(content: Buffer): void {
    if (this.#failure || !this.#before) return;
    const { pending, reply } = this.#before;
    this.#before = undefined;
    pending.resolve({ ...reply, content });
  }

  async #end(): Promise<void> {
    try {
      const end = await this.#tree.ended;
      const stderr = Buffer.concat(this.#stderr).toString('utf8').trim();
      if (end.status === 'setup_failed' && !this.#failure) this.#settle(setupError(end.detail ?? stderr));
      const how = end.status === 'exited' ? `exit code ${end.exit_code}` : end.status;
      this.#fail('ETOOLHOSTLOST', `ended (${how}) ${stderr.slice(0, 2000)}`.trim());
    } catch (error) {
      this.#settle(error instanceof SandboxError ? error : setupError(String(error)));
      throw error;
    }
  }

  #violate(what: string): SandboxError {
    return this.#fail('ETOOLHOSTVIOLATION', `broke the protocol: ${what}`);
  }

  #fail(code: 'ETOOLHOSTLOST' | 'ETOOLHOSTVIOLATION' | 'ETOOLHOSTTIMEOUT', what: string): SandboxError {
    const error = new SandboxError(code, `The tool host of the workspace ${what}.`, {
      retryable: true,
      next: 'Repeat the attempt from the snapshot before it: an open write may or may not have happened.',
    });
    return this.#settle(error);
  }

  /** The first failure counts. */
  #settle(error: SandboxError): SandboxError {
    if (this.#failure) return this.#failure;
    this.#failure = error;
    clearTimeout(this.#idle);
    this.#tree.kill();
    for (const { reject } of [...this.#pending.values()]) reject(error);
    return error;
  }

  #rest(): void {
    if (this.#pending.size > 0 || this.#failure) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#fail('ETOOLHOSTLOST', 'was not used any more'), this.#deps.toolHostIdleMs);
  }
}

/** One line of JSON. Base64 has nothing to escape, which `JSON.stringify` takes 25 ms to find out for 14 MB of it. */
function writeRequest(stdin: Writable, request: { id: number; operation: OperationName; input: object }): void {
  const { input, ...about } = request;
  if (!('data' in input) || typeof input.data !== 'string') {
    stdin.write(`${JSON.stringify(request)}\n`);
    return;
  }
  const { data, ...rest } = input;
  stdin.cork();
  stdin.write(`${JSON.stringify(about).slice(0, -1)},"input":${JSON.stringify(rest).slice(0, -1)},"data":"`);
  stdin.write(data, 'latin1');
  stdin.write('"}}\n');
  stdin.uncork();
}
