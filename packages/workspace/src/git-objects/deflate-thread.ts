import { parentPort } from 'node:worker_threads';
import type { Batch, Deflated } from './deflater.ts';
import { packObject } from './pack.ts';

// The other thread of a `Deflater`: answers each batch of blobs with what a pack holds of them.
parentPort?.on('message', ({ content, blobs }: Batch) => {
  let position = 0;
  const packed = blobs.map(({ oid, length }) => {
    position += length;
    return packObject(oid, 'blob', content.subarray(position - length, position));
  });
  const objects = packed.map(({ oid, crc, bytes }) => ({ oid, crc, length: bytes.length }));
  const bytes = Buffer.concat(packed.map((object) => object.bytes));
  parentPort?.postMessage({ taken: position, bytes, objects } satisfies Deflated);
});
