import type { Readable } from 'node:stream';

/** Resolves when the stream is closed, whether it ended, failed or was destroyed. Somebody must read it. */
export function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) return resolve();
    stream.on('error', () => {});
    stream.once('close', resolve);
  });
}
