import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

export type OutputStream = 'stdout' | 'stderr';

/** A part of what a task printed. Places count bytes from its beginning. */
export interface OutputPage {
  text: string;
  /** Where `text` begins: later than asked when what was asked for is no longer kept. */
  from: number;
  /** Where to go on. */
  next: number;
  /** Bytes that were printed so far. */
  total: number;
  /** Bytes between what was asked for and `from`. */
  omitted: number;
}

export interface OutputWriter {
  /** Synchronous: what it returned from survives the death of the process. */
  write(stream: OutputStream, chunk: Buffer): void;
  close(): Promise<void>;
}

/** What background tasks print, as files: bounded, and readable by cursor while it is written, from every process that sees the folder. */
export interface OutputStore {
  /** Opens a task's output for writing; what an earlier writer left is removed. */
  open(taskId: string): OutputWriter;
  /** Of an unknown task: an empty page. Pages do not end within a UTF-8 character. */
  read(taskId: string, at: { stream: OutputStream; from: number; maxBytes: number }): Promise<OutputPage>;
  remove(taskId: string): Promise<void>;
  /** Ids of the tasks that have output. */
  list(): Promise<string[]>;
}

interface Bounds {
  /** Bytes kept of the beginning of each stream. @default 1 MiB */
  headBytes?: number;
  /** Bytes kept of its end, at least. @default 1 MiB */
  tailBytes?: number;
  /** Of one file. @default 64 KiB */
  segmentBytes?: number;
}

const mebibyte = 1024 * 1024;

/** Each stream is a row of files named by their first byte; those between head and tail are removed as it grows. */
export function openOutputStore(folder: string, bounds: Bounds = {}): OutputStore {
  const { headBytes = mebibyte, tailBytes = mebibyte, segmentBytes = 64 * 1024 } = bounds;
  const place = (taskId: string): string => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(taskId)) throw new TypeError(`${JSON.stringify(taskId)} is no task id`);
    return join(folder, taskId);
  };
  return {
    open(taskId) {
      const path = place(taskId);
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path, { recursive: true, mode: 0o700 });
      const bounds = { headBytes, tailBytes, segmentBytes };
      const streams = { stdout: new Row(path, 'stdout', bounds), stderr: new Row(path, 'stderr', bounds) };
      return {
        write: (stream, chunk) => streams[stream].write(chunk),
        async close() {
          streams.stdout.close();
          streams.stderr.close();
        },
      };
    },
    read: (taskId, at) => readPage(place(taskId), at),
    remove: (taskId) => rm(place(taskId), { recursive: true, force: true }),
    list: () => readdir(folder).catch(unlessMissing<string[]>([])),
  };
}

/** The files of one stream, as its only writer sees them. */
class Row {
  readonly #path: string;
  readonly #name: OutputStream;
  readonly #bounds: Required<Bounds>;
  #total = 0;
  #file: number | undefined;
  /** Where the open file begins. */
  #start = 0;
  /** Where closed files of the tail begin. */
  readonly #tail: number[] = [];

  constructor(path: string, name: OutputStream, bounds: Required<Bounds>) {
    this.#path = path;
    this.#name = name;
    this.#bounds = bounds;
  }

  write(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#file === undefined) this.#begin();
      const part = rest.subarray(0, this.#start + this.#bounds.segmentBytes - this.#total);
      writeSync(this.#file ?? -1, part);
      this.#total += part.length;
      rest = rest.subarray(part.length);
      if (this.#total === this.#start + this.#bounds.segmentBytes) this.close();
    }
  }

  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }

  #begin(): void {
    this.#start = this.#total;
    this.#file = openSync(join(this.#path, fileName(this.#name, this.#start)), 'wx', 0o600);
    if (this.#start < this.#bounds.headBytes) return;
    this.#tail.push(this.#start);
    for (;;) {
      const [oldest = 0, next] = this.#tail;
      if (next === undefined || this.#total - next < this.#bounds.tailBytes) return;
      rmSync(join(this.#path, fileName(this.#name, oldest)), { force: true });
      this.#tail.shift();
    }
  }
}

const fileName = (stream: OutputStream, start: number): string => `${stream}.${start}`;

interface Segment {
  start: number;
  end: number;
}

async function readPage(
  path: string,
  at: { stream: OutputStream; from: number; maxBytes: number },
): Promise<OutputPage> {
  for (;;) {
    const segments = await segmentsOf(path, at.stream);
    const total = segments.at(-1)?.end ?? 0;
    const first = segments.find(({ end }) => end > at.from);
    if (first === undefined) return { text: '', from: at.from, next: at.from, total, omitted: 0 };
    const from = Math.max(at.from, first.start);
    const data = await readRange(path, at.stream, { segments, from, to: from + at.maxBytes });
    // Removed between the two looks: it is in the middle by now.
    if (data === undefined) continue;
    const isLast = from + data.length === total || isBeforeGap(segments, from + data.length);
    const { text, bytes } = decode(data, isLast);
    return { text, from, next: from + bytes, total, omitted: from - at.from };
  }
}

async function segmentsOf(path: string, stream: OutputStream): Promise<Segment[]> {
  const names = await readdir(path).catch(unlessMissing<string[]>([]));
  const starts = names
    .flatMap((name) => (name.startsWith(`${stream}.`) ? [Number(name.slice(stream.length + 1))] : []))
    .sort((a, b) => a - b);
  const segments = await Promise.all(
    starts.map(async (start) => {
      const file = await open(join(path, fileName(stream, start))).catch(unlessMissing(undefined));
      if (file === undefined) return undefined;
      await using opened = file;
      return { start, end: start + (await opened.stat()).size };
    }),
  );
  return segments.filter((segment) => segment !== undefined && segment.end > segment.start) as Segment[];
}

/** What lies in a row without a gap from `from` on. Undefined: a file of it is gone. */
async function readRange(
  path: string,
  stream: OutputStream,
  { segments, from, to }: { segments: readonly Segment[]; from: number; to: number },
): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let at = from;
  for (const { start, end } of segments) {
    if (end <= at) continue;
    if (start > at || at >= to) break;
    const file = await open(join(path, fileName(stream, start))).catch(unlessMissing(undefined));
    if (file === undefined) return undefined;
    await using opened = file;
    const wanted = Buffer.alloc(Math.min(end, to) - at);
    const { bytesRead } = await opened.read(wanted, 0, wanted.length, at - start);
    parts.push(wanted.subarray(0, bytesRead));
    at += bytesRead;
  }
  return Buffer.concat(parts);
}

const isBeforeGap = (segments: readonly Segment[], place: number): boolean =>
  segments.some(({ end }) => end === place) && !segments.some(({ start, end }) => start <= place && place < end);

/**
 * Text of whole characters. A character that is cut at the end is left for the next page, unless nothing follows there, or it would be
 * all of this one.
 */
function decode(data: Buffer, isLast: boolean): { text: string; bytes: number } {
  if (isLast) return { text: data.toString('utf8'), bytes: data.length };
  const decoder = new StringDecoder('utf8');
  const text = decoder.write(data);
  const bytes = data.length - openBytes(data);
  return bytes > 0 ? { text, bytes } : { text: data.toString('utf8'), bytes: data.length };
}

/** Bytes at the end which begin a character and do not end it. */
function openBytes(data: Buffer): number {
  for (let back = 1; back <= Math.min(3, data.length); back++) {
    const byte = data[data.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

function unlessMissing<Value>(otherwise: Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise;
    throw error;
  };
}
