import type { Worker } from 'node:worker_threads';
import { isOutOfMemory, startThread } from '@holdpoint/process/thread';
import { TextWorkError } from './text-work.ts';
import type { Message, Question, Reply } from './thread.ts';

/** A machine with much other work loads the modules of a thread for many seconds. */
const startMs = 60_000;

interface Options {
  /** From the start of the work: the start of the thread does not count. */
  deadlineMs: number;
  heapMb: number;
  idleMs: number;
  /** Called once, as soon as the thread accepts no more questions. */
  onEnd(): void;
}

/**
 * A thread for a single question at a time. The thread ends when a question takes too long or too much memory, or when its caller aborts.
 */
export class TextThread {
  readonly #options: Options;
  readonly #worker: Worker;
  #settle: ((reply: Reply) => void) | undefined;
  #isReady = false;
  /** Begins the deadline of a question asked before. */
  #onReady: (() => void) | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: Options) {
    this.#options = options;
    this.#worker = startThread<Message>(new URL('./thread.ts', import.meta.url), {
      ...{ name: 'the thread of a text', heapMb: options.heapMb },
      onMessage: (message) => (message === 'ready' ? this.#begin() : this.#settle?.(message)),
      onEnd: (error) => this.#fail(error),
    });
  }

  ask(question: Question, signal: AbortSignal): Promise<unknown> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const { deadlineMs, idleMs } = this.#options;
      const done = () => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', onAbort);
        this.#settle = undefined;
        this.#onReady = undefined;
      };
      const give = (error: unknown) => {
        done();
        void this.end();
        reject(error);
      };
      const onAbort = () => give(signal.reason);
      const onDeadline = () =>
        give(new TextWorkError('ETEXTTIME', `The work on the text took longer than ${deadlineMs / 1000} s.`));
      let deadline = setTimeout(onDeadline, this.#isReady ? deadlineMs : startMs + deadlineMs);
      this.#onReady = () => {
        clearTimeout(deadline);
        deadline = setTimeout(onDeadline, deadlineMs);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#settle = (reply) => {
        if (!reply.ok && this.#isOver) return give(reply.error);
        done();
        this.#idle = setTimeout(() => void this.end(), idleMs).unref();
        if (reply.ok) resolve(reply.output);
        else reject(reply.error);
      };
      this.#worker.postMessage(question);
    });
  }

  #begin(): void {
    this.#isReady = true;
    this.#onReady?.();
  }

  async end(): Promise<void> {
    clearTimeout(this.#idle);
    if (!this.#isOver) this.#options.onEnd();
    this.#isOver = true;
    await this.#worker.terminate();
  }

  #fail(error: unknown): void {
    if (!this.#isOver) this.#options.onEnd();
    this.#isOver = true;
    const shown = isOutOfMemory(error)
      ? new TextWorkError('ETEXTMEMORY', 'The work on the text took too much memory.')
      : error;
    this.#settle?.({ ok: false, error: shown });
  }
}
