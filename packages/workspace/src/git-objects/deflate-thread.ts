import { parentPort } from 'node:worker_threads';
import type { Batch, Deflated } from './deflater.ts';
import { packObject } from './pack.ts';

// The thread of a `Deflater`: returns the pack entries of each batch of blobs.
parentPort?.on('message', ({ content, lengths, output }: Batch) => {
  let position = 0;
  const packed = Array.from(lengths, (length) => {
    position += length;
    return packObject('', 'blob', content.subarray(position - length, position));
  });
  const size = packed.reduce((sum, object) => sum + object.bytes.length, 0);
  // Not from Node's buffer pool, because it is transferred to the other thread.
  const bytes = size <= output.length ? output : Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for (const object of packed) filled += object.bytes.copy(bytes, filled);
  const crcs = Uint32Array.from(packed, (object) => object.crc);
  const answer = { content, bytes, lengths: Uint32Array.from(packed, (object) => object.bytes.length), crcs };
  parentPort?.postMessage(answer satisfies Deflated, [content.buffer as ArrayBuffer, bytes.buffer as ArrayBuffer]);
});
