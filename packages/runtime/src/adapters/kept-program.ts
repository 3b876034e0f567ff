import type { CommandResult } from '@holdpoint/contract';
import type { Command, Sandbox } from '@holdpoint/sandbox';
import type { Conversation, Converse, KeptRequest } from '@holdpoint/tools';
import { runConversation } from './run-conversation.ts';

/** A program that prints more than this between two calls ends: nothing reads its words, and the worker pays for each line. */
const maxIdleBytes = 1024 ** 2;

/** How a talk settled. `result` is of a program that ended with the talk. */
export type ProgramTalk<Said> = Awaited<ReturnType<Converse>> & {
  talk: PromiseSettledResult<Said>;
  result?: CommandResult;
};

interface ProgramStart<Session> extends Pick<KeptRequest<Session>, 'name' | 'pin' | 'open'> {
  sandbox: Pick<Sandbox, 'run'>;
  runId: string;
  /** Equal for equal starts. */
  start: string;
  command: Pick<Command, 'argv' | 'env' | 'workspace' | 'limits'>;
}

/** A started program, and the talks with it. */
export class KeptProgram<Session = unknown> {
  readonly runId: string;
  readonly name: string;
  readonly pin: string;
  readonly start: string;
  /** Settles when no process is left. Rejects with a SandboxError when the program could not be run. */
  readonly ended: ReturnType<typeof runConversation<void>>;
  readonly #session: Promise<Session>;
  readonly #over = Promise.withResolvers<void>();
  #isAlive = () => true;
  #isOver = false;
  #isRetired = false;
  #talks = 0;
  #lastAt = performance.now();
  #idleBytes = 0;

  constructor({ sandbox, runId, name, pin, start, command, open }: ProgramStart<Session>) {
    this.runId = runId;
    this.name = name;
    this.pin = pin;
    this.start = start;
    const session = Promise.withResolvers<Session>();
    this.#session = session.promise;
    const never = new AbortController().signal;
    this.ended = runConversation(sandbox, { ...command, signal: never, stop: never }, async (lines) => {
      this.#isAlive = () => lines.isAlive();
      open(this.#counted(lines)).then(session.resolve, (error: unknown) => {
        session.reject(error);
        this.#endTalks();
      });
      await this.#over.promise;
    });
    this.#session.catch(() => {});
    this.ended.catch(() => {});
  }

  /** Whether a new talk may begin. */
  get isUsable(): boolean {
    return !this.#isOver && !this.#isRetired && this.#isAlive();
  }

  get isIdle(): boolean {
    return this.#talks === 0;
  }

  /** Milliseconds since the last talk. */
  get idleMs(): number {
    return performance.now() - this.#lastAt;
  }

  /** @throws SandboxError when the program could not be run */
  async use<Said>(
    talk: (session: Session) => Promise<Said>,
    { signal, isSound }: { signal: AbortSignal; isSound(error: unknown): boolean },
  ): Promise<ProgramTalk<Said>> {
    this.#talks += 1;
    const [settled] = await Promise.allSettled([
      unlessAborted(
        this.#session.then((session) => {
          signal.throwIfAborted();
          return talk(session);
        }),
        signal,
      ),
    ]);
    this.#talks -= 1;
    this.#lastAt = performance.now();
    this.#idleBytes = 0;
    // A talk that failed may leave work behind: the program takes no other talk, and ends with the talks under way.
    if (settled.status === 'rejected' && !isSound(settled.reason)) this.retire();
    if (settled.status === 'fulfilled' || !this.#isOver) return { talk: settled, end: undefined, stderr: '' };
    const { end, stderr, result } = await this.ended;
    return { talk: settled, end, stderr, result };
  }

  /** Takes no other talk, and ends after the last. */
  retire(): void {
    this.#isRetired = true;
    if (this.#talks === 0) this.#endTalks();
  }

  /** Ends at once. Resolves when no process is left. */
  async end(): Promise<void> {
    this.#isRetired = true;
    this.#endTalks();
    await this.ended.catch(() => {});
  }

  #endTalks(): void {
    this.#isOver = true;
    this.#over.resolve();
  }

  #counted(lines: Conversation): Conversation {
    return {
      send: (line) => lines.send(line),
      receive: async () => {
        const line = await lines.receive();
        if (line === undefined) this.#endTalks();
        else if (this.#talks === 0) this.#countIdle(line);
        return line;
      },
    };
  }

  #countIdle(line: string): void {
    this.#idleBytes += line.length + 1;
    if (this.#idleBytes > maxIdleBytes) this.retire();
  }
}

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
