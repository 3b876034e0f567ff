import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputPage } from '@holdpoint/contract';
import { syncPath } from '@holdpoint/process/durable-files';
import * as outputPages from './read-page.ts';

export interface Bounds {
  headBytes: number;
  tailBytes: number;
  segmentBytes: number;
}

/** Writes the files of a stream. A stream has a single writer. */
export class StreamWriter {
  readonly #folder: string;
  readonly #stream: outputPages.OutputStream;
  readonly #bounds: Bounds;
  #total = 0;
  #file: number | undefined;
  /** Where the newest file begins. */
  #start = 0;
  /** Where the files of the tail begin, oldest first. */
  readonly #tail: number[] = [];

  constructor(folder: string, stream: outputPages.OutputStream, bounds: Bounds) {
    this.#folder = folder;
    this.#stream = stream;
    this.#bounds = bounds;
  }

  write(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0; ) {
      const file = this.#fileFor(rest);
      const written = writeSync(file, rest.subarray(0, this.#fitting(rest)));
      this.#total += written;
      rest = rest.subarray(written);
    }
  }

  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }

  #fileFor(data: Buffer): number {
    if (this.#file !== undefined && this.#fitting(data) > 0) return this.#file;
    this.close();
    this.#start = this.#total;
    this.#file = openSync(join(this.#folder, outputPages.segmentName(this.#stream, this.#start)), 'wx', 0o600);
    this.#trim();
    return this.#file;
  }

  /** The number of bytes to put into the newest file. No character lies in two files, so removing a file cuts no character. */
  #fitting(data: Buffer): number {
    const left = this.#start + this.#bounds.segmentBytes - this.#total;
    let bytes = Math.min(Math.max(left, 0), data.length);
    while (bytes < left + outputPages.mostContinuations && outputPages.isContinuation(data[bytes])) bytes++;
    return bytes;
  }

  /** Removes the files between the head and the tail. */
  #trim(): void {
    if (this.#start < this.#bounds.headBytes) return;
    this.#tail.push(this.#start);
    for (;;) {
      const [oldest = 0, next] = this.#tail;
      if (next === undefined || this.#total - next < this.#bounds.tailBytes) return;
      rmSync(join(this.#folder, outputPages.segmentName(this.#stream, oldest)), { force: true });
      this.#tail.shift();
    }
  }
}

export interface OutputWriter {
  /**
   * Synchronous: once `write` returns, the chunk survives the death of the process. Throws when the chunk cannot be written, or a new
   * writer was opened.
   */
  write(stream: outputPages.OutputStream, chunk: Buffer): void;
  close(): Promise<void>;
}

/**
 * The output of background tasks, as bounded files. Every process with access to the folder can read the files by cursor during the
 * writing.
 */
export interface OutputStore {
  /** Opens a task's output for writing and removes the output of an earlier writer. */
  open(taskId: string): OutputWriter;
  /**
   * An unknown task has an empty page. Pages neither begin nor end within a UTF-8 character: an incomplete character waits for its rest,
   * for a second at most. Bytes that are no text become U+FFFD.
   *
   * @param at.maxBytes a page may always have four bytes, for one character; with 0 the page has only the total
   */
  read(taskId: string, at: { stream: outputPages.OutputStream; from: number; maxBytes: number }): Promise<OutputPage>;
  remove(taskId: string): Promise<void>;
  /** For the output of a task unknown to every log. */
  moveToTrash(taskId: string): Promise<void>;
  emptyTrash(input: { trashMs: number; now: number }): Promise<void>;
  /** Ids of the tasks with output. */
  list(): Promise<string[]>;
}

export interface OutputStoreOptions {
  /** How many bytes of the beginning of each stream are kept, at least. @default 1 MiB */
  headBytes?: number;
  /** How many bytes of its end are kept, at least. @default 1 MiB */
  tailBytes?: number;
  /** Size of a file. Up to three files more than head and tail may be kept. @default 64 KiB */
  segmentBytes?: number;
  /** The clock for the dates of files, in milliseconds. @default Date.now */
  now?(): number;
}

const mebibyte = 1024 * 1024;
const trash = '.trash';

/** @param folder created when missing */
export function openOutputStore(folder: string, options: OutputStoreOptions = {}): OutputStore {
  const { headBytes = mebibyte, tailBytes = mebibyte, segmentBytes = 64 * 1024, now = Date.now } = options;
  const folderOf = (taskId: string): string => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(taskId)) throw new TypeError(`${JSON.stringify(taskId)} is no task id`);
    return join(folder, taskId);
  };
  return {
    open: (taskId) => openWriter(outputPages.createFolder(folderOf(taskId)), { headBytes, tailBytes, segmentBytes }),
    async read(taskId, at) {
      return outputPages.readPage({ taskFolder: folderOf(taskId), now }, at);
    },
    async remove(taskId) {
      await rm(folderOf(taskId), { recursive: true, force: true });
    },
    async moveToTrash(taskId) {
      await mkdir(join(folder, trash), { recursive: true, mode: 0o700 });
      await rename(folderOf(taskId), join(folder, trash, `${taskId}.${randomUUID()}`));
    },
    async emptyTrash({ trashMs, now }) {
      for (const name of await namesIn(join(folder, trash))) {
        const path = join(folder, trash, name);
        if (now - (await stat(path)).ctimeMs > trashMs) await rm(path, { recursive: true, force: true });
      }
    },
    async list() {
      return (await namesIn(folder)).filter((name) => name !== trash);
    },
  };
}

/** No-op when a new writer was opened: the folder of this writer is gone. */
async function syncAll(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) await syncPath(join(folder, name)).catch(unlessGone);
  await syncPath(folder).catch(unlessGone);
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

function openWriter(folder: string, bounds: Bounds): OutputWriter {
  const mark = join(folder, outputPages.writingMark);
  writeFileSync(mark, '', { mode: 0o600 });
  const streams = {
    stdout: new StreamWriter(folder, 'stdout', bounds),
    stderr: new StreamWriter(folder, 'stderr', bounds),
  };
  return {
    write: (stream, chunk) => streams[stream].write(chunk),
    async close() {
      streams.stdout.close();
      streams.stderr.close();
      // The caller records the end of the task next: the output must be on disk by then.
      rmSync(mark, { force: true });
      await syncAll(folder);
    },
  };
}
