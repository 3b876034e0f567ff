import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const chunkBytes = 64 * 1024;

/**
 * Reads lines of a growing file from the byte `from` on, until the signal is aborted. A file that shrank was rotated and is read from its
 * beginning. Polls, because a watch costs a file descriptor and reports nothing on some file systems.
 */
export async function* followLines(
  file: string,
  { from, everyMs, signal }: { from: number; everyMs: () => number; signal: AbortSignal },
): AsyncGenerator<string> {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let position = from;
  let rest = Buffer.alloc(0);
  try {
    while (!signal.aborted) {
      const bytes = readSync(descriptor, buffer, 0, chunkBytes, position);
      if (bytes === 0) {
        if (fstatSync(descriptor).size < position) {
          position = 0;
          rest = Buffer.alloc(0);
        }
        await wait(everyMs(), undefined, { signal }).catch(() => undefined);
        continue;
      }
      position += bytes;
      rest = Buffer.concat([rest, buffer.subarray(0, bytes)]);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        const line = rest.toString('utf8', 0, end);
        rest = rest.subarray(end + 1);
        yield line;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
