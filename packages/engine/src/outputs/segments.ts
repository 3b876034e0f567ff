import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export type OutputStream = 'stdout' | 'stderr';

/** There while somebody writes, or was killed while writing. */
export const writingMark = 'writing';

/** Each stream is a row of files named by their first byte: `stdout.0`, `stdout.65536`, … */
export const segmentName = (stream: OutputStream, start: number): string => `${stream}.${start}`;

/**
 * Makes the folder of a new writer, whose name nobody ever had: a writer that was stopped for a while, and goes on after another has begun
 * anew, finds its own gone and fails, and does not write into the other's.
 */
export function beginFolder(taskFolder: string): string {
  const earlier = foldersOf(taskFolder);
  const turn = Number.parseInt(earlier.at(-1) ?? '0', 10) + 1;
  const folder = join(taskFolder, `${String(turn).padStart(6, '0')}-${randomUUID()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of earlier) rmSync(join(taskFolder, name), { recursive: true, force: true });
  return folder;
}

/** @returns undefined when nobody has written */
export function currentFolder(taskFolder: string): string | undefined {
  const name = foldersOf(taskFolder).at(-1);
  return name === undefined ? undefined : join(taskFolder, name);
}

/** @returns where the files of a stream begin, in order; undefined when there is no such folder (any more) */
export function startsIn(folder: string, stream: OutputStream): number[] | undefined {
  const prefix = segmentName(stream, 0).slice(0, -1);
  return unlessMissing(() => readdirSync(folder))
    ?.flatMap((name) => (name.startsWith(prefix) ? [Number(name.slice(prefix.length))] : []))
    .sort((a, b) => a - b);
}

/** What the call returns, or undefined when the file or folder is not there. */
export function unlessMissing<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const foldersOf = (taskFolder: string): string[] => unlessMissing(() => readdirSync(taskFolder))?.sort() ?? [];
