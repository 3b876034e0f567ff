import { Worker } from 'node:worker_threads';
import { CodeGraphError } from '../errors.ts';
import { lateAnswer } from '../query/answer-question.ts';
import type { CachePlace } from '../store/open-store.ts';
import type { Outcome, Posted, Reply, Request } from './messages.ts';

interface Waiting {
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
  deadline: NodeJS.Timeout;
}

const heapMb = 768;
/** What a request without an answer of its own may take, such as one that opens a store. */
const workMs = 60_000;

/** A thread with the graphs of some runs. A request that takes too long ends it; the next one starts another. */
export class GraphThread {
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** @throws CodeGraphError, or an error of the infrastructure */
  perform(place: CachePlace, request: Request): Promise<Outcome> {
    const worker = this.#start();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => this.#end(worker, lateAnswer()), workMs);
      this.#waiting.set(id, { resolve, reject, deadline });
      const moved = request.operation === 'keep' ? request.read.flatMap(({ line }) => buffersOf(line)) : [];
      worker.postMessage({ id, place, request } satisfies Posted, moved);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#end(worker, new Error('the graphs were closed'));
    await worker.terminate();
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
    });
    worker.unref();
    worker.on('message', (reply: Reply) => this.#settle(reply));
    worker.on('error', (error) => this.#end(worker, error));
    worker.on('exit', () => this.#end(worker, new Error('the thread of the code graph ended')));
    this.#worker = worker;
    return worker;
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    if (waiting === undefined) return;
    this.#waiting.delete(reply.id);
    clearTimeout(waiting.deadline);
    if ('outcome' in reply) waiting.resolve(reply.outcome);
    else if ('refused' in reply)
      waiting.reject(new CodeGraphError(reply.refused.code, reply.refused.message, reply.refused.next));
    else waiting.reject(reply.error);
  }

  /** Those that wait behind the one that takes too long fail as well: they are asked again. */
  #end(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject, deadline } of this.#waiting.values()) {
      clearTimeout(deadline);
      reject(error);
    }
    this.#waiting.clear();
    void worker.terminate();
  }
}

/** Lines are moved, not copied. A line may be a part of a larger buffer. */
const buffersOf = (line: Uint8Array | undefined): ArrayBuffer[] =>
  line !== undefined && line.byteLength === line.buffer.byteLength ? [line.buffer as ArrayBuffer] : [];
