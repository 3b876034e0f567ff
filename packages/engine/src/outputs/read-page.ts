import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputPage } from '@holdpoint/contract';
import { currentFolder, type OutputStream, segmentName, startsIn, unlessMissing, writingMark } from './segments.ts';
import { mostContinuations, openBytes } from './utf8.ts';

export interface PageRequest {
  stream: OutputStream;
  from: number;
  maxBytes: number;
}

/** A writer is at most this long between the bytes of one character. One that was killed there left bytes that are no text. */
const characterMs = 1000;
/** A look takes 0.1 ms. A writer that overtakes so many in a row is waited for by the caller, with the same cursor. */
const mostLooks = 100;

/**
 * One page. Files may be added and removed while it looks: then it looks again. Synchronous within, because a look that takes less long is
 * overtaken less often.
 */
export function readPage(deps: { taskFolder: string; now(): number }, request: PageRequest): OutputPage {
  for (let looks = 0; looks < mostLooks; looks++) {
    const folder = currentFolder(deps.taskFolder);
    if (folder === undefined) break;
    const page = look({ folder, now: deps.now }, request);
    if (page !== undefined) return page;
  }
  return { text: '', from: 0, next: 0, total: 0, omitted: 0 };
}

/** Undefined: something was removed meanwhile. */
function look(deps: { folder: string; now(): number }, request: PageRequest): OutputPage | undefined {
  const starts = startsIn(deps.folder, request.stream);
  if (starts === undefined) return undefined;
  const last = starts.at(-1);
  if (last === undefined) return { text: '', from: 0, next: 0, total: 0, omitted: 0 };
  const place = join(deps.folder, segmentName(request.stream, last));
  const newest = statSync(place, { throwIfNoEntry: false });
  if (newest === undefined) return undefined;
  const total = last + newest.size;
  if (request.from >= total) return { text: '', from: total, next: total, total, omitted: 0 };
  // a page that could not hold one character would not go on
  const limit = request.maxBytes === 0 ? 0 : Math.max(request.maxBytes, mostContinuations + 1);
  const run = readRun({ ...deps, starts, total }, { ...request, limit });
  if (run === undefined) return undefined;
  const { from, data, end } = run;
  const nothingElsePending = end === 'gap' || (end === 'total' && !mayGoOn(deps, newest.mtimeMs));
  const text = nothingElsePending ? data : data.subarray(0, data.length - openBytes(data));
  return { text: text.toString('utf8'), from, next: from + text.length, total, omitted: from - request.from };
}

interface Run {
  from: number;
  data: Buffer;
  /** Where it ends: at what was printed so far, before something that is no longer kept, or where the page is full. */
  end: 'total' | 'gap' | 'full';
}

/** What is kept without a gap from a place on. Every file but the newest is complete. Undefined: one of them is gone. */
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
    // what was written since the total was taken is for the next page
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
  place: string,
  { at, most }: { at: number; most: number },
): { data: Buffer; size: number } | undefined {
  const file = unlessMissing(() => openSync(place, 'r'));
  if (file === undefined) return undefined;
  try {
    const { size } = fstatSync(file);
    const data = Buffer.allocUnsafe(Math.max(Math.min(most, size - at), 0));
    return { data: data.subarray(0, readSync(file, data, 0, data.length, at)), size };
  } finally {
    closeSync(file);
  }
}

function mayGoOn({ folder, now }: { folder: string; now(): number }, lastWrite: number): boolean {
  return existsSync(join(folder, writingMark)) && now() - lastWrite < characterMs;
}
