import { type Dirent, readdirSync } from 'node:fs';
import type { EntryType } from '@holdpoint/contract';
import { entryType } from './entry.ts';
import { type OpenDirectory, openEntry } from './open-directory.ts';
import { Refusal } from './protocol.ts';

export interface Walked {
  /** Relative to the first directory of the walk. */
  path: Buffer;
  type: EntryType;
}

/** Each level holds one file open. The tool host may open 1024. */
const maxDepth = 500;
const slash = Buffer.from('/');

interface WalkOptions {
  enters(name: Buffer): boolean;
  /** Called for an unreadable directory. @param path empty for the first directory of the walk */
  onUnreadable(error: unknown, path: Buffer): void;
}

/** All entries below a directory, parents first. The walk enters no link, not even a link replacing a directory during the walk. */
export function* walk(
  directory: OpenDirectory,
  options: WalkOptions,
  above: Buffer = Buffer.alloc(0),
  depth = 1,
): Generator<Walked> {
  for (const entry of readEntries(directory, options, above)) {
    const { name } = entry;
    if (!options.enters(name)) continue;
    const path = above.length === 0 ? name : Buffer.concat([above, slash, name]);
    yield { path, type: entryType(entry) };
    if (!entry.isDirectory()) continue;
    using child = openChild(directory, name, { ...options, path, depth });
    if (child) yield* walk(child, options, path, depth + 1);
  }
}

function readEntries({ path }: OpenDirectory, { onUnreadable }: WalkOptions, above: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    onUnreadable(error, above);
    return [];
  }
}

function openChild(
  directory: OpenDirectory,
  name: Buffer,
  { onUnreadable, path, depth }: WalkOptions & { path: Buffer; depth: number },
): OpenDirectory | undefined {
  try {
    if (depth === maxDepth) throw new Refusal('ENAMETOOLONG', `it is nested more than ${maxDepth} directories deep`);
    return openEntry(directory.at(name));
  } catch (error) {
    onUnreadable(error, path);
    return undefined;
  }
}
