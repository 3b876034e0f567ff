import type { Worker } from 'node:worker_threads';
import { isOutOfMemory, startThread } from '@holdpoint/process/thread';
import { CodeGraphError } from '../errors.ts';
import { lateAnswer } from '../query/answer-question.ts';
import type { CachePlace } from '../store/open-store.ts';
import type { Outcome, Posted, Reply, Request } from './messages.ts';

interface Waiting {
  readonly place: CachePlace;
  readonly request: Request;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

const usualHeapMb = 768;
/** The time permitted to a request without a limit of its own, such as the opening of a store. */
const workMs = 60_000;

/**
 * A thread with the graphs of some runs. The thread handles requests in sequence. A request with too much time or memory ends the thread,
 * and fails alone: another thread gets the waiting requests.
 */
export class GraphThread {
  readonly #heapMb: number;
  #worker: Worker | undefined;
  #lastId = 0;
  /** In the order of execution. */
  readonly #waiting = new Map<number, Waiting>();
  #deadline: NodeJS.Timeout | undefined;

  /** @param options.heapMb memory permitted to the graphs. @default 768 */
  constructor({ heapMb = usualHeapMb }: { heapMb?: number } = {}) {
    this.#heapMb = heapMb;
  }

  /** Unanswered requests. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** @throws CodeGraphError, or an error of the infrastructure */
  perform(place: CachePlace, request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => this.#post({ place, request, resolve, reject }));
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    clearTimeout(this.#deadline);
    for (const { reject } of this.#waiting.values()) reject(new Error('the graphs were closed'));
    this.#waiting.clear();
    await worker.terminate();
  }

  #post(waiting: Waiting): void {
    const worker = this.#start();
    const { place, request } = waiting;
    const id = ++this.#lastId;
    this.#waiting.set(id, waiting);
    if (this.#waiting.size === 1) this.#watch(worker);
    const moved = request.operation === 'keep' ? request.read.flatMap(({ line }) => buffersOf(line)) : [];
    worker.postMessage({ id, place, request } satisfies Posted, moved);
  }

  /** Only the request in progress has a deadline: requests behind do not pay for the wait. */
  #watch(worker: Worker): void {
    clearTimeout(this.#deadline);
    if (this.#waiting.size === 0) return;
    this.#deadline = setTimeout(() => this.#end(worker, lateAnswer()), workMs);
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker: Worker = startThread<Reply>(new URL('./thread.ts', import.meta.url), {
      ...{ name: 'the thread of the code graph', heapMb: this.#heapMb },
      onMessage: (reply) => this.#settle(worker, reply),
      onEnd: (error) => this.#end(worker, isOutOfMemory(error) ? this.#tooLarge(error) : error),
    });
    this.#worker = worker;
    return worker;
  }

  #settle(worker: Worker, reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    if (waiting === undefined) return;
    this.#waiting.delete(reply.id);
    this.#watch(worker);
    if ('outcome' in reply) waiting.resolve(reply.outcome);
    else if ('refused' in reply)
      waiting.reject(new CodeGraphError(reply.refused.code, reply.refused.message, reply.refused.next));
    else waiting.reject(reply.error);
  }

  /** Not an error of the infrastructure: the same question would end the next thread. */
  #tooLarge(cause: unknown): CodeGraphError {
    const message = `The graph of this snapshot needs more than ${this.#heapMb} MiB of memory for this question.`;
    const next =
      'Ask for less, or leave copies and generated files out of the workspace by the globs of its source (exclude).';
    return new CodeGraphError('EQUOTA', message, next, { cause });
  }

  #end(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    clearTimeout(this.#deadline);
    const [first, ...others] = this.#waiting.values();
    this.#waiting.clear();
    void worker.terminate();
    first?.reject(error);
    for (const waiting of others) this.#postAgain(waiting);
  }

  /** The lines of a `keep` went with the thread: the next question finds the files unread. */
  #postAgain(waiting: Waiting): void {
    if (waiting.request.operation === 'keep') waiting.resolve({ kind: 'kept', refused: [] });
    else this.#post(waiting);
  }
}

/** Lines are moved, not copied. A line may be a part of a larger buffer. */
const buffersOf = (line: Uint8Array | undefined): ArrayBuffer[] =>
  line !== undefined && line.byteLength === line.buffer.byteLength ? [line.buffer as ArrayBuffer] : [];
