import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { openStoredPack } from './stored-pack.ts';

const pieceBytes = 1024 * 1024;
const checksumBytes = 20;

/** Reads a pack as a whole: its bytes have the checksum at its end, and its index belongs to the pack. 1 GB takes about a second. */
export async function isIntactPack(path: string): Promise<boolean> {
  using pack = openStoredPack(path);
  if (pack === undefined) return false;
  await using file = await open(`${path}.pack`);
  const { size } = await file.stat();
  const hash = createHash('sha1');
  const buffer = Buffer.alloc(pieceBytes);
  const end = size - checksumBytes;
  for (let at = 0; at < end; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(pieceBytes, end - at), at);
    if (bytesRead === 0) return false;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  const { bytesRead } = await file.read(buffer, 0, checksumBytes, end);
  return bytesRead === checksumBytes && hash.digest().equals(buffer.subarray(0, checksumBytes));
}
