import { readSync } from 'node:fs';

/** Exactly `size` bytes; a file that ends earlier is seen by the caller's second look at its status. */
export function readFully(fd: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, buffer, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}
