import { parentPort } from 'node:worker_threads';
import type { Batch, Deflated } from './deflater.ts';
import { packObject } from './pack.ts';

// The other thread of a `Deflater`: answers each batch of blobs with what a pack holds of them.
parentPort?.on('message', ({ content, lengths, room }: Batch) => {
  let position = 0;
  const packed = Array.from(lengths, (length) => {
    position += length;
    return packObject('', 'blob', content.subarray(position - length, position));
  });
  const size = packed.reduce((sum, object) => sum + object.bytes.length, 0);
  // Not out of node's pool, because it moves to the other thread.
  const bytes = size <= room.length ? room : Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for (const object of packed) filled += object.bytes.copy(bytes, filled);
  const crcs = Uint32Array.from(packed, (object) => object.crc);
  const answer = { content, bytes, lengths: Uint32Array.from(packed, (object) => object.bytes.length), crcs };
  parentPort?.postMessage(answer satisfies Deflated, [content.buffer as ArrayBuffer, bytes.buffer as ArrayBuffer]);
});
