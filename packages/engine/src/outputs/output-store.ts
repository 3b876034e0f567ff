import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputPage } from '@holdpoint/contract';
import { syncPath } from '../files/write-durably.ts';
import { readPage } from './read-page.ts';
import { beginFolder, type OutputStream, writingMark } from './segments.ts';
import { type Bounds, StreamWriter } from './stream-writer.ts';

export interface OutputWriter {
  /** Synchronous: what it returned from survives the death of the process. Throws when it cannot be kept, or another writer has begun anew. */
  write(stream: OutputStream, chunk: Buffer): void;
  close(): Promise<void>;
}

/** What background tasks print, as files: bounded, and readable by cursor while it is written, from every process that sees the folder. */
export interface OutputStore {
  /** Opens a task's output for writing; what an earlier writer left is removed. */
  open(taskId: string): OutputWriter;
  /**
   * Of an unknown task: an empty page. Pages neither begin nor end within a UTF-8 character: one that is still being written is left for
   * later, for a second at most. What is no text is U+FFFD.
   *
   * @param at.maxBytes a page may have four for a character all the same; with 0 it only tells the total
   */
  read(taskId: string, at: { stream: OutputStream; from: number; maxBytes: number }): Promise<OutputPage>;
  remove(taskId: string): Promise<void>;
  /** For output of an unknown task. */
  moveToTrash(taskId: string): Promise<void>;
  emptyTrash(input: { trashMs: number; now: number }): Promise<void>;
  /** Ids of the tasks that have output. */
  list(): Promise<string[]>;
}

export interface OutputStoreOptions {
  /** Bytes kept of the beginning of each stream, at least. @default 1 MiB */
  headBytes?: number;
  /** Bytes kept of its end, at least. @default 1 MiB */
  tailBytes?: number;
  /** Of one file: up to three times so much may be kept above that. @default 64 KiB */
  segmentBytes?: number;
  /** Milliseconds, of the clock that files are dated with. @default Date.now */
  now?(): number;
}

const mebibyte = 1024 * 1024;
const trash = '.trash';

/** @param folder made when missing */
export function openOutputStore(folder: string, options: OutputStoreOptions = {}): OutputStore {
  const { headBytes = mebibyte, tailBytes = mebibyte, segmentBytes = 64 * 1024, now = Date.now } = options;
  const placeOf = (taskId: string): string => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(taskId)) throw new TypeError(`${JSON.stringify(taskId)} is no task id`);
    return join(folder, taskId);
  };
  return {
    open: (taskId) => openWriter(beginFolder(placeOf(taskId)), { headBytes, tailBytes, segmentBytes }),
    async read(taskId, at) {
      return readPage({ taskFolder: placeOf(taskId), now }, at);
    },
    async remove(taskId) {
      await rm(placeOf(taskId), { recursive: true, force: true });
    },
    async moveToTrash(taskId) {
      await mkdir(join(folder, trash), { recursive: true, mode: 0o700 });
      await rename(placeOf(taskId), join(folder, trash, `${taskId}.${randomUUID()}`));
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

/** Nothing to do when another writer has begun in the meantime: the folder of this one is gone. */
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
  const mark = join(folder, writingMark);
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
      // The end of the task is recorded next: what it printed must then be on disk, too.
      rmSync(mark, { force: true });
      await syncAll(folder);
    },
  };
}
