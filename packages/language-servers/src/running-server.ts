import type { ProgramProcess } from '@holdpoint/sandbox';
import { z } from 'zod';
import { LanguageServerError } from './errors.ts';
import type { ServerReply, ServerRequest, ServerStart } from './protocol.ts';

/** A busy host takes seconds to start Node, and a server reads its project first. */
const startMs = 60_000;
/** The program answers within the time that the request gives, and a little later on a busy host. Then the process is killed. */
const graceMs = 30_000;
/** A server that ended this many times without an answer is not started again. */
const mostFailures = 2;

/** The server of a project. The first question starts its process, and a question after the end of a process starts the next. */
export class RunningServer {
  readonly #start: ServerStart;
  readonly #startProcess: () => ProgramProcess;
  #process: ProgramProcess | undefined;
  #started: Promise<ProgramProcess> | undefined;
  #failures = 0;
  #waiting = 0;
  #askedAt = performance.now();

  constructor(start: ServerStart, startProcess: () => ProgramProcess) {
    this.#start = start;
    this.#startProcess = startProcess;
  }

  get name(): string {
    return this.#start.name;
  }

  /** Questions without an answer yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Milliseconds since the last question, or 0 while one waits. */
  get idleMs(): number {
    return this.#waiting > 0 ? 0 : performance.now() - this.#askedAt;
  }

  /** @throws LanguageServerError, also for an answer that breaks the protocol; SandboxError when no process can be started */
  async ask(request: ServerRequest): Promise<Exclude<ServerReply, { problem: unknown }>> {
    this.#waiting += 1;
    try {
      return await this.#askOnce(request);
    } finally {
      this.#waiting -= 1;
      this.#askedAt = performance.now();
    }
  }

  async #askOnce(request: ServerRequest): Promise<Exclude<ServerReply, { problem: unknown }>> {
    if (this.#failures >= mostFailures) throw new LanguageServerError('ESERVER', `${this.name} ended before, twice.`);
    try {
      const process = await this.#running();
      const reply = await exchange(process, request);
      this.#failures = 0;
      return reply;
    } catch (error) {
      if (error instanceof LanguageServerError && error.code !== 'ESERVER') throw error;
      this.#failures += 1;
      if (isLost(error)) throw new LanguageServerError('ESERVER', `${this.name} ended. ${messageOf(error)}`);
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.#process?.close();
  }

  #running(): Promise<ProgramProcess> {
    if (this.#started !== undefined && this.#process?.usable === true) return this.#started;
    const process = this.#startProcess();
    this.#process = process;
    this.#started = exchange(process, { ask: 'start', server: this.#start, wait_ms: startMs }).then(
      () => process,
      async (error: unknown) => {
        await process.close().catch(() => {});
        throw error;
      },
    );
    return this.#started;
  }
}

async function exchange(
  process: ProgramProcess,
  request: ServerRequest,
): Promise<Exclude<ServerReply, { problem: unknown }>> {
  const line = await process.request(request, new Uint8Array(), { timeoutMs: request.wait_ms + graceMs });
  const reply = replySchema.safeParse(parse(line));
  if (!reply.success) {
    await process.close().catch(() => {});
    throw new LanguageServerError('ESERVER', 'The answer has another form than agreed.');
  }
  if ('problem' in reply.data) throw new LanguageServerError(reply.data.problem.code, reply.data.problem.message);
  return reply.data;
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}

const isLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('EPROGRAM');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Bounds of what a hostile server may answer. */
const path = z.string().min(1).max(4096);
const count = z.int().min(0).max(10_000_000);
const typeProblem = z.strictObject({ path, line: count, column: count, message: z.string().max(20_000) });
const place = z.strictObject({ path, line: count, column: count, text: z.string().max(20_000) });
const edit = z.strictObject({ start: count, end: count, text: z.string().max(10_000) });
const fileRename = z.strictObject({ path, sha256: z.string().length(64), edits: z.array(edit).max(20_000) });
const problem = z.strictObject({
  code: z.enum(['ENOSYMBOL', 'ENOPLACE', 'ERENAME', 'EREFUSED', 'ESERVER', 'ETIMEOUT']),
  message: z.string().max(10_000),
});

/** A line of the program inside. */
const replySchema = z.union([
  z.strictObject({ started: z.literal(true) }),
  z.strictObject({ problems: z.array(typeProblem).max(10_000) }),
  z.strictObject({ places: z.array(place).max(500), total: count }),
  z.strictObject({ files: z.array(fileRename).max(5000) }),
  z.strictObject({ problem }),
]);
