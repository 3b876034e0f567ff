import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { OutputPage } from '@holdpoint/contract';

/** A character has a first byte and up to three continuation bytes. */
export const mostContinuations = 3;

export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** @returns how many bytes at the end belong to an incomplete character; 0 to 3 */
function incompleteBytes(data: Buffer): number {
  for (let back = 1; back <= Math.min(mostContinuations, data.length); back++) {
    const byte = data[data.length - back];
    if (isContinuation(byte)) continue;
    return lengthOf(byte ?? 0) > back ? back : 0;
  }
  return 0;
}

/** The length of a character by its first byte. */
function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

export type OutputStream = 'stdout' | 'stderr';

/** Exists while a writer writes, and after a writer was killed. */
export const writingMark = 'writing';

/** A stream is a sequence of files, each named after the offset of its first byte: `stdout.0`, `stdout.65536`, … */
export const segmentName = (stream: OutputStream, start: number): string => `${stream}.${start}`;

/**
 * Creates the folder of a new writer, under a new name. When an earlier writer was frozen and resumes, its own folder is gone and the
 * writer fails: no earlier writer can write into the new folder.
 */
export function createFolder(taskFolder: string): string {
  const earlier = foldersOf(taskFolder);
  const turn = Number.parseInt(earlier.at(-1) ?? '0', 10) + 1;
  const folder = join(taskFolder, `${String(turn).padStart(6, '0')}-${randomUUID()}`);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of earlier) fs.rmSync(join(taskFolder, name), { recursive: true, force: true });
  return folder;
}

/** @returns undefined when the task has no output */
function currentFolder(taskFolder: string): string | undefined {
  const name = foldersOf(taskFolder).at(-1);
  return name === undefined ? undefined : join(taskFolder, name);
}

/** @returns the offsets of the files of a stream, in order; undefined when the folder does not exist */
function startsIn(folder: string, stream: OutputStream): number[] | undefined {
  const prefix = segmentName(stream, 0).slice(0, -1);
  return unlessMissing(() => fs.readdirSync(folder))
    ?.flatMap((name) => (name.startsWith(prefix) ? [Number(name.slice(prefix.length))] : []))
    .sort((a, b) => a - b);
}

/** The result of the call; undefined when the file or folder does not exist. */
function unlessMissing<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const foldersOf = (taskFolder: string): string[] => unlessMissing(() => fs.readdirSync(taskFolder))?.sort() ?? [];

export interface PageRequest {
  stream: OutputStream;
  from: number;
  maxBytes: number;
}

/** The longest time of a writer between the bytes of the same character. A killed writer leaves bytes that are no text. */
const characterMs = 1000;
/** A try takes 0.1 ms. When a writer overtakes all tries, the caller asks again with the same cursor. */
const mostTries = 100;

/**
 * Reads a page. When a writer removes files during a try, the function tries again. Synchronous, because a writer overtakes a short try
 * less often.
 */
export function readPage(deps: { taskFolder: string; now(): number }, request: PageRequest): OutputPage {
  for (let tries = 0; tries < mostTries; tries++) {
    const folder = currentFolder(deps.taskFolder);
    if (folder === undefined) break;
    const page = tryRead({ folder, now: deps.now }, request);
    if (page !== undefined) return page;
  }
  return { text: '', from: 0, next: 0, total: 0, omitted: 0 };
}

/** @returns undefined when the writer removed a file */
function tryRead(deps: { folder: string; now(): number }, request: PageRequest): OutputPage | undefined {
  const starts = startsIn(deps.folder, request.stream);
  if (starts === undefined) return undefined;
  const last = starts.at(-1);
  if (last === undefined) return { text: '', from: 0, next: 0, total: 0, omitted: 0 };
  const newest = fs.statSync(join(deps.folder, segmentName(request.stream, last)), { throwIfNoEntry: false });
  if (newest === undefined) return undefined;
  const total = last + newest.size;
  if (request.from >= total) return { text: '', from: total, next: total, total, omitted: 0 };
  // A page must have room for a whole character, or the reader makes no progress.
  const limit = request.maxBytes === 0 ? 0 : Math.max(request.maxBytes, mostContinuations + 1);
  const run = readRun({ ...deps, starts, total }, { ...request, limit });
  if (run === undefined) return undefined;
  const { from, data, end } = run;
  const isComplete = end === 'gap' || (end === 'total' && !mayContinue(deps, newest.mtimeMs));
  const text = isComplete ? data : data.subarray(0, data.length - incompleteBytes(data));
  return { text: text.toString('utf8'), from, next: from + text.length, total, omitted: from - request.from };
}

interface Run {
  from: number;
  data: Buffer;
  /** Why the run of bytes ends: at the last printed byte, before removed bytes, or because the page is full. */
  end: 'total' | 'gap' | 'full';
}

/**
 * Reads the kept bytes from an offset on, up to the next gap. Every file but the newest is complete. @returns undefined when a file is gone
 */
function readRun(
  deps: { folder: string; starts: readonly number[]; total: number },
  { stream, from: asked, limit }: { stream: OutputStream; from: number; limit: number },
): Run | undefined {
  const { starts, total } = deps;
  const parts: Buffer[] = [];
  let index = Math.max(
    starts.findLastIndex((start) => start <= asked),
    0,
  );
  let at = Math.max(asked, starts[index] ?? 0);
  let from = at;
  for (;;) {
    const start = starts[index] ?? total;
    const part = readPart(join(deps.folder, segmentName(stream, start)), { at: at - start, most: from + limit - at });
    if (part === undefined) return undefined;
    // Bytes written after `total` was read belong to the next page.
    parts.push(part.data.subarray(0, total - at));
    at = Math.min(at + part.data.length, total);
    const done = (end: Run['end']): Run => ({ from, data: Buffer.concat(parts), end });
    if (at === total) return done('total');
    if (at < start + part.size) return done('full');
    const next = starts[++index] ?? total;
    if (next > at && from < at) return done('gap');
    if (next > at) from = at = next;
    if (at - from >= limit) return done('full');
  }
}

function readPart(
  path: string,
  { at, most }: { at: number; most: number },
): { data: Buffer; size: number } | undefined {
  const file = unlessMissing(() => fs.openSync(path, 'r'));
  if (file === undefined) return undefined;
  try {
    const { size } = fs.fstatSync(file);
    const data = Buffer.allocUnsafe(Math.max(Math.min(most, size - at), 0));
    return { data: data.subarray(0, fs.readSync(file, data, 0, data.length, at)), size };
  } finally {
    fs.closeSync(file);
  }
}

function mayContinue({ folder, now }: { folder: string; now(): number }, lastWrite: number): boolean {
  return fs.existsSync(join(folder, writingMark)) && now() - lastWrite < characterMs;
}
