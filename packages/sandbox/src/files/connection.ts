import type { Writable } from 'node:stream';
import { outputsFolder } from '@holdpoint/contract';
import type { IdleProcess, IdleProcesses } from '../idle-processes.ts';
import type { OperationName, Operations, OutputStream } from '../inside/tool-host/protocol.ts';
import { startPatience } from '../process/index.ts';
import { type Driver, SandboxError, type Tree, type WorkspaceMount } from '../tree.ts';
import { startFramed } from './framed-program.ts';
import { type ParsedReply, parseReply } from './reply-schema.ts';

export interface ConnectionDeps {
  driver: Driver;
  toolHostIdleMs: number;
  /** The idle tool hosts and programs of this worker. */
  idle: IdleProcesses;
  fileRequestMs: number;
}

/** More than a tool host's longest reply (`maxListedBytes`). A longer line is a violation. */
const maxLineBytes = 2 * 1024 * 1024;
/** Node needs 0.6 GiB of writable addresses to start. Memory contains the data of one request several times. */
const memoryBytes = 2048 * 1024 * 1024;

/** A reply with its content. */
type Answer = Exclude<ParsedReply, { failed: string } | { part: string }> & { content: Buffer };
const noContent = Buffer.alloc(0);

/** Receives a part of a search's output. False when the output is more than any search sends. */
export type OnPart = (part: OutputStream, data: Buffer) => boolean;

interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** @default `fileRequestMs` */
  timeoutMs?: number;
  /** @default a part of output is a violation */
  onPart?: OnPart;
}

interface Pending {
  /** Maximum bytes of content. */
  maxBytes: number;
  onPart: OnPart | undefined;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** One tool host process and its open requests. Ends when idle, on any violation, and on `close`. */
export class Connection implements IdleProcess {
  readonly #deps: ConnectionDeps;
  readonly #tree: Tree;
  readonly #pending = new Map<number, Pending>();
  /** Takes the content announced by the last line. */
  #onContent: ((content: Buffer) => void) | undefined;
  #nextId = 1;
  #idle: NodeJS.Timeout | undefined;
  #failure: SandboxError | null = null;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;

  constructor(deps: ConnectionDeps, workspace: WorkspaceMount) {
    this.#deps = deps;
    const { driver } = deps;
    const node = [driver.node, '--disable-warning=ExperimentalWarning'] as const;
    const { tree, ended } = startFramed(
      driver,
      {
        ...{ workspace, maxLineBytes, hostFiles: driver.toolHostFiles },
        argv: [
          ...([...node, driver.toolHost, driver.root(workspace), driver.ripgrep] as const),
          ...[outputsFolder, driver.outputs(workspace)],
        ],
        limits: { memory_bytes: memoryBytes, processes: 64 },
      },
      {
        onLine: (line) => this.#receive(line),
        onContent: (content) => this.#receiveContent(content),
        onLongLine: () => this.#violate('a line is too long'),
        hasFailed: () => this.#failure !== null,
        onLost: (how) => this.#fail('ETOOLHOSTLOST', how),
        onFailure: (error) => this.#settle(error),
      },
    );
    this.#tree = tree;
    this.ended = ended;
    this.#startIdleTimer();
  }

  /** False once the tool host has ended or is about to. Callers then open another connection. */
  get usable(): boolean {
    return this.#failure === null;
  }

  /** Resolves when the set-up of the tool host's sandbox has succeeded or failed. */
  get settled(): Promise<void> {
    return this.#tree.settled;
  }

  /** Rejects with `SandboxError` when the process ends first, or with the signal's reason. */
  request<Name extends OperationName>(
    operation: Name,
    input: Operations[Name]['input'],
    { signal, timeoutMs = this.#deps.fileRequestMs, onPart }: RequestOptions = {},
  ) {
    return new Promise<Answer>((resolve, reject) => {
      const maxBytes = 'max_bytes' in input ? input.max_bytes : 0;
      if (this.#failure) return reject(this.#failure);
      if (signal?.aborted) {
        this.#wait();
        return reject(signal.reason);
      }
      const id = this.#nextId++;
      const forget = () => {
        endTimer();
        signal?.removeEventListener('abort', onAbort);
        this.#pending.delete(id);
        this.#wait();
      };
      const onAbort = () => {
        reject(signal?.reason);
        // A later answer to this request is dropped. A write may still happen; `killAll` prevents the write.
        this.#pending.set(id, { maxBytes, onPart, resolve: forget, reject: forget });
      };
      const endTimer = startPatience(
        { processes: () => this.#tree.processes(), now: () => performance.now() },
        timeoutMs,
        () => this.#fail('ETOOLHOSTTIMEOUT', `did not answer within ${timeoutMs} ms`),
      );
      const settle =
        <Value>(then: (value: Value) => void) =>
        (value: Value) => {
          forget();
          then(value);
        };
      this.#pending.set(id, { maxBytes, onPart, resolve: settle(resolve), reject: settle(reject) });
      signal?.addEventListener('abort', onAbort, { once: true });
      clearTimeout(this.#idle);
      this.#deps.idle.take(this);
      if (this.#tree.stdin) writeRequest(this.#tree.stdin, { id, operation, input });
    });
  }

  endIdle(): void {
    this.#fail('ETOOLHOSTLOST', 'was idle');
  }

  /** Reports a well-formed reply with impossible content. */
  violate(what: string): SandboxError {
    return this.#violate(what);
  }

  async close(): Promise<void> {
    this.#fail('ETOOLHOSTLOST', 'was stopped');
    await this.ended;
  }

  /** @returns the number of content bytes that follow */
  #receive(line: Buffer): number {
    if (this.#failure) return 0;
    const reply = parseReply(line);
    const pending = reply && this.#pending.get(reply.id);
    if (!reply || !pending) {
      this.#violate('a line is not the reply to an open request');
    } else if ('failed' in reply) {
      pending.reject(
        new SandboxError('ETOOLHOSTLOST', `The tool host failed: ${reply.failed}`, {
          retryable: true,
          next: 'Check the disk and the limits of this host.',
        }),
      );
    } else if ('part' in reply) {
      const { onPart } = pending;
      this.#onContent = (data) => {
        if (onPart?.(reply.part, data) !== true) this.#violate('more output follows than was requested');
      };
      return reply.data;
    } else if ('output' in reply && reply.data !== undefined) {
      if (reply.data > pending.maxBytes) {
        this.#violate('more content follows than was requested');
      } else if (reply.data > 0) {
        this.#onContent = (content) => pending.resolve({ ...reply, content });
        return reply.data;
      } else pending.resolve({ ...reply, content: noContent });
    } else {
      pending.resolve({ ...reply, content: noContent });
    }
    return 0;
  }

  #receiveContent(content: Buffer): void {
    if (this.#failure) return;
    const take = this.#onContent;
    this.#onContent = undefined;
    take?.(content);
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
    this.#deps.idle.take(this);
    this.#tree.kill();
    for (const { reject } of [...this.#pending.values()]) reject(error);
    return error;
  }

  /** Counts the tool host as idle after its last answer. A starting tool host does not count as idle. */
  #wait(): void {
    if (this.#pending.size > 0 || this.#failure) return;
    this.#startIdleTimer();
    this.#deps.idle.add(this);
  }

  #startIdleTimer(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.endIdle(), this.#deps.toolHostIdleMs);
  }
}

/** Writes one line of JSON. Base64 needs no escaping, but `JSON.stringify` takes 25 ms to check 14 MB of base64. */
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
