import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join, relative } from 'node:path';
import type { EntryType } from '@holdpoint/contract';
import { byBytes, fitReply } from './listing.ts';
import type { Operations } from './protocol.ts';
import { Refusal } from './refusal.ts';
import { resolve } from './resolve.ts';

export function whereTo(root: string, input: Operations['resolve']['input']): Operations['resolve']['output'] {
  return { path: relative(root, resolve(root, input.path).path) || '.' };
}

export function stat(root: string, input: Operations['stat']['input']): Operations['stat']['output'] {
  const { stats } = resolve(root, input.path);
  if (!stats) throw new Refusal('ENOENT', 'no such file or directory');
  return { type: entryType(stats), bytes: stats.size, mode: stats.mode & 0o7777, mtime_ms: stats.mtimeMs };
}

export function list(root: string, input: Operations['list']['input']): Operations['list']['output'] {
  const { path, stats } = resolve(root, input.path);
  if (!stats) throw new Refusal('ENOENT', 'no such directory');
  if (!stats.isDirectory()) throw new Refusal('ENOTDIR', 'it is not a directory');
  const found = readdirSync(path, { withFileTypes: true }).sort((a, b) => byBytes(a.name, b.name));
  const entries = found.slice(0, input.limit).map((entry) => ({
    name: entry.name,
    type: entryType(entry),
    // 0 when the entry has disappeared, or when its name is not valid UTF-8.
    bytes: lstatSync(join(path, entry.name), { throwIfNoEntry: false })?.size ?? 0,
  }));
  return { entries: fitReply(entries), total: found.length };
}

function entryType(entry: Stats | Dirent): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

/** Opening a FIFO waits for a writer, and reading a device may have effects. */
export function assertRegular(stats: Stats): void {
  if (stats.isDirectory()) throw new Refusal('EISDIR', 'it is a directory');
  if (!stats.isFile()) throw new Refusal('ESPECIAL', 'it is a FIFO, a socket or a device');
}
