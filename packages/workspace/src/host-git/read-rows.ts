import { WorkspaceError } from '../errors.ts';
import { createYielder } from '../files/index.ts';
import type { Git, GitOptions } from './git.ts';

export interface RowsOptions extends Omit<GitOptions, 'maxBytes'> {
  /** The byte after each row. @default 0 */
  end?: number;
  /** Throws ETOOMANYFILES for more rows. @default 2,000,000 */
  most?: number;
}

export const mostRows = 2_000_000;

/** The most rows of a tree: globs may select a run's files and folders from a larger repository. */
export const mostListed = ({ entries }: { entries: number }): number => 4 * entries;

/** A longer row is not read: a path of 200 folders with the longest names has 51,200 bytes. */
export const mostRowBytes = 64 * 1024;

/**
 * Reads git's listing, some rows at a time: ten objects of git can list 10⁹ paths. git is killed when the caller stops, when the signal aborts
 * and at the limits.
 * @throws WorkspaceError ETOOMANYFILES, ESOURCEPATHS
 */
export async function* readRows(
  git: Git,
  args: readonly string[],
  options: RowsOptions = {},
): AsyncGenerator<string[]> {
  const { end = 0, most = mostRows } = options;
  let count = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of readPieces(git, args, options)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const rows: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(end); at !== -1; from = at + 1, at = bytes.indexOf(end, from)) {
      rows.push(bytes.toString('latin1', from, at));
    }
    rest = bytes.subarray(from);
    count += rows.length;
    yield rows;
    if (count > most) throw tooMany(most);
    if (rest.length > mostRowBytes) throw tooLong(rest);
  }
}

/** Reads the output of git piece by piece. git is killed when the caller stops, and when the signal aborts. */
export async function* readPieces(
  git: Git,
  args: readonly string[],
  options: Omit<GitOptions, 'maxBytes'> = {},
): AsyncGenerator<Buffer> {
  const { stdin, stdout, done, kill } = git.stream(args, options);
  stdin.on('error', () => {});
  stdin.end(options.input);
  const maybeYield = createYielder(options.signal);
  let isWhole = false;
  try {
    for await (const piece of stdout as AsyncIterable<Uint8Array>) {
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      const pause = maybeYield();
      if (pause !== undefined) await pause;
    }
    isWhole = true;
  } finally {
    if (!isWhole) {
      kill();
      await done.catch(() => {});
      options.signal?.throwIfAborted();
    }
  }
  await done;
}

export const tooMany = (most: number): WorkspaceError =>
  new WorkspaceError('ETOOMANYFILES', `git lists more than ${most} entries.`);

export function tooLong(row: Buffer): WorkspaceError {
  const begin = row.toString('latin1', 0, 200);
  return new WorkspaceError('ESOURCEPATHS', `git lists a path of more than ${mostRowBytes} bytes: ${begin}…`);
}
