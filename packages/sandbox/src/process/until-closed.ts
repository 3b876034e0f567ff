import type { Readable } from 'node:stream';

/** Resolves when the stream has ended, failed or was destroyed. The caller must read the stream. */
export function untilClosed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) return resolve();
    stream.on('error', () => {});
    stream.once('close', resolve);
  });
}
