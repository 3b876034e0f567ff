import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { byBytes } from './by-bytes.ts';
import { entryType } from './entry-type.ts';
import { fitReply } from './fit.ts';
import type { Operations } from './protocol.ts';
import { Refusal } from './refusal.ts';
import { resolve } from './resolve.ts';

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
