import type { Dirent, Stats } from 'node:fs';
import type { EntryType } from '@holdpoint/contract';
import { Refusal } from './refusal.ts';

export function entryType(entry: Stats | Dirent): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

/** Opening a FIFO waits for a writer, and reading a device may have effects. */
export function assertRegular(stats: Stats): void {
  if (stats.isDirectory()) throw new Refusal('EISDIR', 'it is a directory');
  if (!stats.isFile()) throw new Refusal('ESPECIAL', 'it is a FIFO, a socket or a device');
}
