import { PassThrough, type Readable } from 'node:stream';
import type { Git } from '../host-git/git.ts';

/** The output of a git that is running. It fails when git does, and git ends when nobody reads on. */
export function outputOf({ stdin, stdout, done, kill }: ReturnType<Git['stream']>): Readable {
  stdin.on('error', () => {});
  stdin.end();
  const output = new PassThrough();
  stdout.on('error', (error) => output.destroy(error));
  stdout.pipe(output, { end: false });
  done.then(
    () => (stdout.readableEnded ? output.end() : stdout.once('end', () => output.end())),
    (error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  output.once('close', kill);
  return output;
}
