import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { startThread } from '@holdpoint/process/thread';
import { WorkspaceError, type WorkspaceErrorCode } from '../../errors.ts';
import type { Yielder } from '../../files/index.ts';
import type { CopyResult, CopyTask } from './copy-files.ts';
import { ImportJob, type ImportResults, type ImportSettings, type ImportTask } from './import-job.ts';
import type { ImportFailure, ImportReply, ImportRequest } from './import-thread.ts';

interface Deps {
  readonly maybeYield: Yielder;
  /** Called for finished files. */
  readonly onFiles: (files: number, bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

type Result = ImportResults[keyof ImportResults];

interface Waiting {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Starting a thread takes as long as copying this many files. */
const filesHere = 300;
const mostThreads = 4;
/** Tasks queued for a thread to keep the thread busy. */
const tasksAhead = 3;

/**
 * Reads, hashes, compresses and writes the files of a source, in threads as soon as there are many: for 10,000 source files compressing
 * takes as long as copying, and the event loop stays free. Each thread stores its objects in a pack of its own.
 */
export class Importer {
  readonly #settings: ImportSettings;
  readonly #deps: Deps;
  #here: ImportJob | undefined;
  #last: Promise<void> = Promise.resolve();
  #done = 0;
  readonly #threads: ImportThread[] = [];

  constructor(settings: ImportSettings, deps: Deps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  copy(task: Omit<CopyTask, 'kind'>): Promise<CopyResult> {
    const files = task.folders.reduce((sum, { names }) => sum + names.length, 0);
    return this.#run({ kind: 'copy', ...task }, files) as Promise<CopyResult>;
  }

  /** A promise to wait for before another `run`, when every thread has enough to do. */
  backpressure(): Promise<unknown> | undefined {
    if (this.#threads.length < threads) return undefined;
    return this.#threads.some((thread) => thread.waiting < tasksAhead)
      ? undefined
      : Promise.race(this.#threads.map((thread) => thread.progress));
  }

  /** Everything is on disk when this returns. @param isSame see `ImportPack.finish` */
  async finish(isSame: boolean): Promise<void> {
    const task = { kind: 'finish', isSame } as const;
    await Promise.all([this.#here?.run(task, () => undefined), ...this.#threads.map((thread) => thread.run(task))]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()));
    this.#here?.[Symbol.dispose]();
  }

  #run(task: ImportTask, files: number): Promise<Result> {
    this.#deps.signal?.throwIfAborted();
    this.#done += files;
    if (this.#done > filesHere) return this.#nextThread().run(task);
    // In sequence: a large file is stored in pieces.
    const run = this.#last.then(() => this.#runHere(task));
    this.#last = run.then(
      () => {},
      () => {},
    );
    return run;
  }

  #runHere(task: ImportTask): Promise<Result> {
    this.#here ??= new ImportJob(this.#settings);
    return this.#here.run(task, (size) => {
      this.#deps.onFiles(1, size);
      return this.#deps.maybeYield();
    });
  }

  #nextThread(): ImportThread {
    const [least] = this.#threads.toSorted((a, b) => a.waiting - b.waiting);
    if (least !== undefined && (least.waiting === 0 || this.#threads.length >= threads)) return least;
    const thread = new ImportThread(this.#settings, this.#deps);
    this.#threads.push(thread);
    return thread;
  }
}

/** Asked once, because each call asks the kernel. */
const threads = Math.min(mostThreads, Math.max(1, availableParallelism()));

class ImportThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #failure: unknown;
  #progress = Promise.withResolvers<void>();

  constructor(settings: ImportSettings, { onFiles, signal }: Deps) {
    this.#worker = startThread<ImportReply>(new URL('./import-thread.ts', import.meta.url), {
      ...{ name: 'the import thread', data: settings, keepsAlive: true },
      // Buffers lie outside the heap.
      youngMb: 4,
      onMessage: (reply) => {
        try {
          if ('files' in reply) onFiles(reply.files, reply.bytes);
        } catch (error) {
          this.#stop(error);
        }
        if (!('isOpen' in reply)) this.#settle(reply);
      },
      onEnd: (error) => this.#fail(error),
    });
    signal?.addEventListener('abort', () => this.#stop(signal.reason), { once: true });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Settled when a task has ended. */
  get progress(): Promise<void> {
    return this.#progress.promise;
  }

  run(task: ImportTask): Promise<Result> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const id = this.#next++;
    this.#waiting.set(id, { resolve, reject });
    this.#worker.postMessage({ id, task } satisfies ImportRequest);
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failure ??= new Error('the import has ended');
    await this.#worker.terminate();
  }

  #settle(reply: Exclude<ImportReply, { isOpen: true }>): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('failure' in reply) waiting?.reject(revive(reply.failure));
    else waiting?.resolve(reply.result);
    this.#wake();
  }

  /** Its tasks end after the thread: until then the thread may use their descriptors. */
  #stop(error: unknown): void {
    this.#failure ??= error;
    void this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
    this.#wake();
  }

  #wake(): void {
    const { resolve } = this.#progress;
    this.#progress = Promise.withResolvers();
    resolve();
  }
}

function revive({ message, code, syscall }: ImportFailure): Error {
  if (syscall !== undefined) return Object.assign(new Error(message), { code, syscall });
  return code === undefined ? new Error(message) : new WorkspaceError(code as WorkspaceErrorCode, message);
}
