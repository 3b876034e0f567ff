import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export type OutputStream = 'stdout' | 'stderr';

/** Exists while a writer writes, and after a writer was killed. */
export const writingMark = 'writing';

/** A stream is a sequence of files, each named after the offset of its first byte: `stdout.0`, `stdout.65536`, … */
export const segmentName = (stream: OutputStream, start: number): string => `${stream}.${start}`;

/**
 * Creates the folder of a new writer, under a new name. When an earlier writer was frozen and resumes, its own folder is gone and the
 * writer fails: no earlier writer can write into the new folder.
 */
export function createFolder(taskFolder: string): string {
  const earlier = foldersOf(taskFolder);
  const turn = Number.parseInt(earlier.at(-1) ?? '0', 10) + 1;
  const folder = join(taskFolder, `${String(turn).padStart(6, '0')}-${randomUUID()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of earlier) rmSync(join(taskFolder, name), { recursive: true, force: true });
  return folder;
}

/** @returns undefined when the task has no output */
export function currentFolder(taskFolder: string): string | undefined {
  const name = foldersOf(taskFolder).at(-1);
  return name === undefined ? undefined : join(taskFolder, name);
}

/** @returns the offsets of the files of a stream, in order; undefined when the folder does not exist */
export function startsIn(folder: string, stream: OutputStream): number[] | undefined {
  const prefix = segmentName(stream, 0).slice(0, -1);
  return unlessMissing(() => readdirSync(folder))
    ?.flatMap((name) => (name.startsWith(prefix) ? [Number(name.slice(prefix.length))] : []))
    .sort((a, b) => a - b);
}

/** The result of the call; undefined when the file or folder does not exist. */
export function unlessMissing<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const foldersOf = (taskFolder: string): string[] => unlessMissing(() => readdirSync(taskFolder))?.sort() ?? [];
