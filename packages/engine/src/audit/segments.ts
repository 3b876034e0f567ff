import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath } from '@holdpoint/process/durable-files';

/** The files of the audit log are in this folder of the data directory. Each begins with the record of the number in its name. */
export const auditDirOf = (dataDir: string): string => join(dataDir, 'audit');

const namePattern = /^(\d{12})(?:-(\d{1,6}))?\.jsonl$/;

/** @param copy a damaged file keeps its name, and the records continue in another file */
export const segmentName = (firstSeq: number, copy = 0): string =>
  `${String(firstSeq).padStart(12, '0')}${copy === 0 ? '' : `-${copy}`}.jsonl`;

export const firstSeqOf = (name: string): number => Number(namePattern.exec(name)?.[1] ?? 0);

/** The names of the files, in the order of their beginning. */
export async function listSegments(dataDir: string): Promise<string[]> {
  const names = await readdir(auditDirOf(dataDir)).catch(unlessMissing<string[]>([]));
  const parts = (name: string): [number, number] => {
    const [, first = '0', copy = '0'] = namePattern.exec(name) ?? [];
    return [Number(first), Number(copy)];
  };
  return names
    .filter((name) => namePattern.test(name))
    .sort((a, b) => {
      const [[firstA, copyA], [firstB, copyB]] = [parts(a), parts(b)];
      return firstA - firstB || copyA - copyB;
    });
}

export async function sizeOfSegment(dataDir: string, name: string): Promise<number | undefined> {
  const found = await stat(join(auditDirOf(dataDir), name)).catch(unlessMissing(undefined));
  return found?.size;
}

/** A line of a file, without its line feed. */
export interface SegmentLine {
  file: string;
  /** From 1. */
  number: number;
  bytes: Buffer;
  /** Where the next line begins. */
  end: number;
  /** False: the file ends in the middle of the line. */
  isWhole: boolean;
}

const chunkBytes = 64 * 1024;

/** The lines of a file from a byte on. A missing file has none. */
export async function* readSegment(dataDir: string, file: string, from = 0): AsyncGenerator<SegmentLine> {
  const handle = await open(join(auditDirOf(dataDir), file)).catch(unlessMissing(undefined));
  if (handle === undefined) return;
  await using reader = handle;
  let rest: Buffer[] = [];
  let at = from;
  let end = from;
  let number = 0;
  for (;;) {
    const { buffer, bytesRead } = await reader.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    let chunk = buffer.subarray(0, bytesRead);
    for (let feed = chunk.indexOf(10); feed >= 0; feed = chunk.indexOf(10)) {
      const bytes = Buffer.concat([...rest, chunk.subarray(0, feed)]);
      rest = [];
      chunk = chunk.subarray(feed + 1);
      end += bytes.byteLength + 1;
      number += 1;
      yield { file, number, bytes, end, isWhole: true };
    }
    if (chunk.byteLength > 0) rest.push(chunk);
  }
  const bytes = Buffer.concat(rest);
  if (bytes.byteLength > 0) yield { file, number: number + 1, bytes, end: end + bytes.byteLength, isWhole: false };
}

/** The whole lines of a file, the last first, without their line feeds. A missing file has none. */
export async function* readSegmentBack(dataDir: string, file: string): AsyncGenerator<Buffer> {
  const handle = await open(join(auditDirOf(dataDir), file)).catch(unlessMissing(undefined));
  if (handle === undefined) return;
  await using reader = handle;
  // The line after the last feed has no end yet.
  let isWhole = false;
  let rest: Buffer[] = [];
  for (let at = (await reader.stat()).size; at > 0; ) {
    const size = Math.min(chunkBytes, at);
    at -= size;
    let chunk = await readAt(reader, at, size);
    for (let feed = chunk.lastIndexOf(10); feed >= 0; feed = chunk.lastIndexOf(10)) {
      if (isWhole) yield Buffer.concat([chunk.subarray(feed + 1), ...rest]);
      isWhole = true;
      rest = [];
      chunk = chunk.subarray(0, feed);
    }
    rest.unshift(chunk);
  }
  if (isWhole) yield Buffer.concat(rest);
}

async function readAt(handle: FileHandle, at: number, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let read = 0;
  while (read < size) {
    const { bytesRead } = await handle.read(bytes, read, size - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

export type Written = 'written' | 'damaged';

/**
 * Writes bytes to a place in a file, durably. Bytes written by an earlier try stay; a second write of them changes nothing.
 * @returns `damaged` when the file is shorter than the place, or has other bytes there; then nothing was changed
 */
export async function writeSegment(dataDir: string, name: string, offset: number, bytes: Buffer): Promise<Written> {
  const directory = auditDirOf(dataDir);
  const created = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (created !== undefined) await syncPath(dirname(created));
  const flags = constants.O_RDWR | (offset === 0 ? constants.O_CREAT : 0);
  const handle = await open(join(directory, name), flags, 0o600).catch(unlessMissing(undefined));
  if (handle === undefined) return 'damaged';
  {
    await using file = handle;
    const { size } = await file.stat();
    if (size < offset) return 'damaged';
    const found = Buffer.alloc(Math.min(bytes.byteLength, size - offset));
    await file.read(found, 0, found.byteLength, offset);
    const same = commonLength(found, bytes);
    // A power failure may leave zeros where bytes were not written yet.
    if (found.subarray(same).some((byte) => byte !== 0)) return 'damaged';
    if (same < bytes.byteLength && size > offset + bytes.byteLength) return 'damaged';
    for (let at = same; at < bytes.byteLength; ) {
      at += (await file.write(bytes, at, bytes.byteLength - at, offset + at)).bytesWritten;
    }
    await file.sync();
  }
  if (offset === 0) await syncPath(directory);
  return 'written';
}

function commonLength(a: Buffer, b: Buffer): number {
  let length = 0;
  while (length < a.byteLength && a[length] === b[length]) length += 1;
  return length;
}

const unlessMissing =
  <Otherwise>(otherwise: Otherwise) =>
  (error: NodeJS.ErrnoException): Otherwise => {
    if (error.code === 'ENOENT') return otherwise;
    throw error;
  };
