import { startFramed } from '../files/framed-program.ts';
import type { IdleProcess, IdleProcesses } from '../idle-processes.ts';
import type { WorkspaceMount } from '../port.ts';
import { startPatience } from '../process/index.ts';
import { type Driver, type HostProgram, type ProgramProcess, SandboxError, type Tree } from '../tree.ts';

type Code = 'EPROGRAMLOST' | 'EPROGRAMVIOLATION' | 'EPROGRAMTIMEOUT';

interface Pending {
  timeoutMs: number;
  resolve(line: Buffer): void;
  reject(error: unknown): void;
}

/** A process of a program of Holdpoint, with its open requests. Ends when idle, on any violation, and on `close`. */
export class StartedProgram implements ProgramProcess, IdleProcess {
  readonly #program: HostProgram;
  readonly #idle: IdleProcesses;
  readonly #tree: Tree;
  readonly #pending: Pending[] = [];
  #failure: SandboxError | null = null;
  /** Time-out of the first open request, or the idle time without a request. */
  #endTimer = () => {};
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;

  /** @param deps.idle the idle tool hosts and programs of this worker */
  constructor(
    { driver, idle }: { driver: Driver; idle: IdleProcesses },
    { workspace, program }: { workspace: WorkspaceMount; program: HostProgram },
  ) {
    this.#program = program;
    this.#idle = idle;
    const { files: hostFiles, maxLineBytes, memory_bytes, limits: more } = program;
    const main = driver.pathInside(program.main, hostFiles);
    const limits = { memory_bytes, processes: 64, file_bytes: 1, ...more };
    const { tree, ended } = startFramed(
      driver,
      { workspace, argv: [driver.node, ...(program.nodeOptions ?? []), main], limits, hostFiles, maxLineBytes },
      {
        onLine: (line) => this.#receive(line),
        onContent: () => {},
        onLongLine: () => this.#fail('EPROGRAMVIOLATION', 'wrote a line that is too long'),
        hasFailed: () => this.#failure !== null,
        onLost: (how) => this.#fail('EPROGRAMLOST', how),
        onFailure: (error) => this.#settle(error),
      },
    );
    this.#tree = tree;
    this.ended = ended;
    this.ended.catch(() => {});
    this.#restartTimer();
  }

  get usable(): boolean {
    return this.#failure === null;
  }

  request(header: object, content: Uint8Array, { timeoutMs }: { timeoutMs: number }): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.code === 'EPROGRAMLOST' ? notBegun(this.#failure) : this.#failure);
      this.#idle.take(this);
      this.#pending.push({ timeoutMs, resolve, reject });
      if (this.#pending.length === 1) this.#restartTimer();
      const { stdin } = this.#tree;
      stdin?.cork();
      stdin?.write(`${JSON.stringify({ ...header, bytes: content.length })}\n`);
      if (content.length > 0) stdin?.write(content);
      stdin?.uncork();
    });
  }

  endIdle(): void {
    this.#fail('EPROGRAMLOST', 'was idle');
  }

  async close(): Promise<void> {
    this.#fail('EPROGRAMLOST', 'was stopped');
    await this.ended;
  }

  #receive(line: Buffer): number {
    if (this.#failure) return 0;
    const answered = this.#pending.shift();
    this.#restartTimer();
    if (this.#pending.length === 0) this.#idle.add(this);
    if (answered === undefined) this.#fail('EPROGRAMVIOLATION', 'answered without a request');
    // A chunk of the stream is valid only until its listeners return.
    else answered.resolve(Buffer.from(line));
    return 0;
  }

  #fail(code: Code, what: string): void {
    const message = `The ${this.#program.name} ${what}.`;
    this.#settle(new SandboxError(code, message, { retryable: true, next: 'Ask again: another one is started.' }));
  }

  /** The first failure counts. Only the first open request was being worked on. */
  #settle(error: SandboxError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#endTimer();
    this.#idle.take(this);
    this.#tree.kill();
    const [first, ...others] = this.#pending.splice(0);
    first?.reject(error);
    for (const { reject } of others) reject(notBegun(error));
  }

  #restartTimer(): void {
    this.#endTimer();
    if (this.#failure) return;
    const [first] = this.#pending;
    if (first === undefined) {
      const timer = setTimeout(() => this.endIdle(), this.#program.idleMs).unref();
      this.#endTimer = () => clearTimeout(timer);
      return;
    }
    this.#endTimer = startPatience(
      { processes: () => this.#tree.processes(), now: () => performance.now() },
      first.timeoutMs,
      () => this.#fail('EPROGRAMTIMEOUT', `did not answer within ${first.timeoutMs} ms`),
    );
  }
}

/** The error of a request waiting behind another request: the waiting request did not cause the end of the program. */
const notBegun = (cause: SandboxError) =>
  new SandboxError('EPROGRAMLOST', cause.message, { retryable: true, next: cause.next, cause });
