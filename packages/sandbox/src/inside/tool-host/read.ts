import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { assertRegular } from './entry.ts';
import { type Operations, Refusal } from './protocol.ts';
import { resolve } from './resolve.ts';

/** Without O_NONBLOCK, opening would wait for a writer when a FIFO has replaced the file. */
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface ReadFile {
  output: Operations['read']['output'];
  data: Buffer;
}

export function read(root: string, input: Operations['read']['input']): ReadFile {
  const { path, stats } = resolve(root, input.path);
  if (!stats) throw new Refusal('ENOENT', 'no such file');
  assertRegular(stats);
  const descriptor = openSync(path, readFlags);
  try {
    const now = fstatSync(descriptor);
    assertRegular(now);
    const mode = now.mode & 0o7777;
    const whole = now.size <= input.max_bytes ? readAtMost(descriptor, 0, input.max_bytes + 1, now.size + 1) : null;
    if (whole && whole.length <= input.max_bytes) {
      const part = whole.subarray(Math.min(input.offset, whole.length));
      return { output: { bytes: whole.length, sha256: sha256(whole), mode }, data: part };
    }
    const part = readAtMost(descriptor, input.offset, input.max_bytes);
    return { output: { bytes: Math.max(now.size, whole?.length ?? 0), sha256: null, mode }, data: part };
  } finally {
    closeSync(descriptor);
  }
}

/** The sha256 of a regular file of any size. */
export function hashFile(path: string): string {
  const descriptor = openSync(path, readFlags);
  try {
    const stats = fstatSync(descriptor);
    assertRegular(stats);
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(chunkBytes(stats.size));
    for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
      hash.update(buffer.subarray(0, count));
    }
    return hash.digest('hex');
  } finally {
    closeSync(descriptor);
  }
}

export function sha256(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/** A buffer of 1 MiB for each small file makes the garbage collector run. Some file systems report size 0 for every file. */
const chunkBytes = (size: number): number => Math.min(1024 * 1024, Math.max(size + 1, 16 * 1024));

/**
 * Allocates memory while reading: the size of a file may change, and a huge sparse file takes no disk space.
 * @param expected probable number of bytes. @default more than a buffer
 */
function readAtMost(descriptor: number, offset: number, bytes: number, expected = bytes): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; total < bytes; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes(expected), bytes - total));
    const count = readSync(descriptor, chunk, 0, chunk.length, offset + total);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    total += count;
  }
  return Buffer.concat(chunks);
}
