import type { Dirent, Stats } from 'node:fs';
import { relative } from 'node:path';
import type { EntryType } from '@holdpoint/contract';
import { type Operations, Refusal } from './protocol.ts';
import { resolve } from './resolve.ts';

export function whereTo(root: string, input: Operations['resolve']['input']): Operations['resolve']['output'] {
  return { path: relative(root, resolve(root, input.path).path) || '.' };
}

export function stat(root: string, input: Operations['stat']['input']): Operations['stat']['output'] {
  const { stats } = resolve(root, input.path, input);
  if (!stats) throw new Refusal('ENOENT', 'no such file or directory');
  return { type: entryType(stats), bytes: stats.size, mode: stats.mode & 0o7777, mtime_ms: stats.mtimeMs };
}

export function entryType(entry: Stats | Dirent<string | Buffer>): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

/** Opening a FIFO waits for a writer, and reading a device may have effects. */
export function assertRegular(stats: Stats): void {
  if (stats.isDirectory()) throw new Refusal('EISDIR', 'it is a directory');
  if (!stats.isFile()) throw new Refusal('ESPECIAL', 'it is a FIFO, a socket or a device');
}
