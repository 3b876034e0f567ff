import { lstatSync, readdirSync } from 'node:fs';
import type { DirectoryEntry, EntryType } from '@holdpoint/contract';
import { entryType } from './entry.ts';
import { type OpenDirectory, openDirectory } from './open-directory.ts';
import { fitReply, type Operations, Refusal } from './protocol.ts';
import { resolve } from './resolve.ts';
import { type Walked, walk } from './walk.ts';

/** The count stops here. A path takes about 100 bytes of memory. */
const maxEntries = 500_000;

export function list(root: string, input: Operations['list']['input']): Operations['list']['output'] {
  const { path, stats } = resolve(root, input.path);
  if (!stats) throw new Refusal('ENOENT', 'no such directory');
  if (!stats.isDirectory()) throw new Refusal('ENOTDIR', 'it is not a directory');
  using directory = openDirectory(root, path);
  const found = input.recursive ? findAll(directory, input) : findEntries(directory, input);
  found.sort((a, b) => Buffer.compare(a.path, b.path));
  const totals: Record<EntryType, number> = { file: 0, directory: 0, symlink: 0, other: 0 };
  for (const { type } of found) totals[type]++;
  const entries = found.slice(0, input.limit).map((entry) => describe(directory, entry));
  return { entries: fitReply(entries), total: found.length, totals };
}

const shows = (name: Buffer, { hidden }: { hidden: boolean }): boolean => hidden || name[0] !== 0x2e;

function findEntries(directory: OpenDirectory, input: { hidden: boolean }): Walked[] {
  return readdirSync(directory.path, { withFileTypes: true, encoding: 'buffer' })
    .filter(({ name }) => shows(name, input))
    .map((entry) => ({ path: entry.name, type: entryType(entry) }));
}

function findAll(directory: OpenDirectory, input: { hidden: boolean }): Walked[] {
  readdirSync(directory.path); // throws when the top directory is unreadable
  const found: Walked[] = [];
  for (const entry of walk(directory, { enters: (name) => shows(name, input), onUnreadable: () => {} })) {
    found.push(entry);
    if (found.length === maxEntries) break;
  }
  return found;
}

/** Size and time are 0 when the entry has disappeared. */
function describe(directory: OpenDirectory, { path, type }: Walked): DirectoryEntry {
  const stats = lstatSync(directory.at(path), { throwIfNoEntry: false });
  return { name: path.toString('utf8'), type, bytes: stats?.size ?? 0, mtime_ms: stats?.mtimeMs ?? 0 };
}
