import { readSync } from 'node:fs';

/** Reads `size` bytes. Returns fewer when the file ends earlier; the caller notices the change in a second read of the status. */
export function readFully(fd: number, size: number, from = 0): Buffer {
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, buffer, length, size - length, from + length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}
