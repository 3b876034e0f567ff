import { Readable } from 'node:stream';

/** A program with output. */
export interface Producer {
  stdout: NodeJS.ReadableStream;
  /** Rejects when the program fails. */
  done: Promise<unknown>;
  kill(): unknown;
}

/**
 * The output of a program started at the first read: an unread stream leaves nothing behind. The stream fails when the program fails, and
 * destroying the stream kills the program.
 */
export function lazyOutput(start: () => Promise<Producer> | Producer): Readable {
  let source: Producer | undefined;
  let asked = false;
  const begin = async (output: Readable): Promise<void> => {
    const begun = await start();
    begun.done.catch(() => {});
    if (output.destroyed) return void begun.kill();
    source = begun;
    const ended = new Promise<void>((resolve, reject) => {
      begun.stdout.once('end', resolve);
      begun.stdout.once('error', reject);
    });
    begun.stdout.on('data', (chunk: Uint8Array) => {
      if (!output.push(chunk)) begun.stdout.pause();
    });
    await Promise.all([begun.done, ended]);
    output.push(null);
  };
  return new Readable({
    read() {
      source?.stdout.resume();
      if (asked) return;
      asked = true;
      begin(this).catch((error: Error) => this.destroy(error));
    },
    destroy(error, callback) {
      source?.kill();
      callback(error);
    },
  });
}
