import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunFolder } from '../deps.ts';
import { createYielder, type Directory, openChain, setMtime, statIn } from '../files/index.ts';
import { type Folder, isFolder, leavesOf } from '../store/objects/index.ts';
import { fileSystemClock, type MtimeOf, type StatCache } from '../tree/index.ts';

const timesFile = (entry: string): string => join(entry, 'times');

/** Writes when the files of an entry got their content, ns. A file of an unknown time is left out. */
export function writeTimes(entry: string, overlay: Folder, mtimeOf: MtimeOf): void {
  let rows = '';
  for (const { path, leaf } of leavesOf(overlay)) {
    const mtime = mtimeOf(path, leaf.oid);
    if (mtime !== undefined) rows += `${mtime} ${path}\0`;
  }
  writeFileSync(timesFile(entry), rows, { encoding: 'latin1', mode: 0o600 });
}

/** Times of an entry of an earlier version are not known. */
export function readTimes(entry: string): ReadonlyMap<string, bigint> {
  let text: string;
  try {
    text = readFileSync(timesFile(entry), 'latin1');
  } catch {
    return new Map();
  }
  return new Map(
    text
      .split('\0')
      .slice(0, -1)
      .map((row) => {
        const end = row.indexOf(' ');
        return [row.slice(end + 1), BigInt(row.slice(0, end))];
      }),
  );
}

/** Sets the times of a tree's files, while no process of the run uses the tree. The stat cache then knows them with these. */
export async function setTimes(
  folder: RunFolder,
  input: { top: Directory; path: string; root: Folder; mtimeOf: MtimeOf; stats: StatCache },
): Promise<void> {
  const maybeYield = createYielder();
  const written: [string, NonNullable<ReturnType<typeof statIn>>, string][] = [];
  const visit = async (directory: Directory, root: Folder, above: string): Promise<void> => {
    for (const [name, entry] of root.entries) {
      const path = `${above}/${name}`;
      if (isFolder(entry)) {
        using below = openChain(directory, [name]);
        if (below !== undefined) await visit(below, entry, path);
        continue;
      }
      const mtime = input.mtimeOf(path, entry.oid);
      if (mtime === undefined) continue;
      setMtime(directory.at(name), mtime);
      const status = statIn(directory, name);
      if (status?.isFile() === true) written.push([path, status, entry.oid]);
      await maybeYield();
    }
  };
  using at = openChain(input.top, input.path.split('/'));
  if (at !== undefined) await visit(at, input.root, input.path);
  const clock = fileSystemClock(folder);
  for (const [path, status, oid] of written) input.stats.set(path, status, oid, clock);
}
