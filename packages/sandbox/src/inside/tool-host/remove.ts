import { accessSync, constants, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { relative } from 'node:path';
import { assertOutsideRepository } from './dot-git.ts';
import { type OpenDirectory, openEntry, openPlace } from './open-directory.ts';
import { fitReply, type Operations, Refusal, refusalOf } from './protocol.ts';
import { resolve } from './resolve.ts';
import { walk } from './walk.ts';
import { temporaryName } from './write.ts';

/** Listed at most. */
const maxListed = 10_000;

export function remove(root: string, input: Operations['remove']['input']): Operations['remove']['output'] {
  const { path } = resolve(root, input.path, { follow: false });
  assertOutsideRepository(root, path);
  using place = openPlace(root, path);
  const name = relative(root, path);
  const stats = lstatSync(place.path, { throwIfNoEntry: false });
  if (!stats) throw new Refusal('ENOENT', 'no such file or directory');
  if (stats.isDirectory() && input.recursive) return removeTree(place, name);
  if (stats.isDirectory()) rmdirSync(place.path);
  else unlinkSync(place.path);
  return { removed: [name], total: 1 };
}

/** Refuses an undeletable directory before any change. Then a rename moves the whole tree out of sight at once. */
function removeTree(place: ReturnType<typeof openPlace>, name: string): Operations['remove']['output'] {
  // Renaming to the same name has no effect, but fails with EROFS on a read-only mount. `findRemovable` may first meet entries of other
  // users.
  renameSync(place.path, place.path);
  using directory = openEntry(place.path);
  const below = findRemovable(directory).sort(Buffer.compare);
  const away = place.beside(temporaryName());
  renameSync(place.path, away);
  try {
    empty(directory);
    rmdirSync(away);
  } catch (error) {
    // A command has made a part unremovable since the check. The rest of the tree gets its name back.
    if (lstatSync(place.path, { throwIfNoEntry: false }) === undefined) renameSync(away, place.path);
    throw error;
  }
  const listed = below.slice(0, maxListed - 1).map((path) => `${name}/${path.toString('utf8')}`);
  return { removed: fitReply([name, ...listed]), total: below.length + 1 };
}

/** @throws Refusal EACCES when its owner cannot empty a directory */
function findRemovable(directory: OpenDirectory): Buffer[] {
  const paths: Buffer[] = [];
  const holders = new Set<string>();
  for (const { path } of walk(directory, { enters: () => true, onUnreadable: refuse })) {
    paths.push(path);
    holders.add(path.toString('latin1', 0, Math.max(path.lastIndexOf('/'), 0)));
  }
  for (const holder of holders) {
    const path = Buffer.from(holder, 'latin1');
    try {
      accessSync(directory.at(path.length === 0 ? Buffer.from('.') : path), constants.W_OK | constants.X_OK);
    } catch (error) {
      refuse(error, path);
    }
  }
  return paths;
}

function refuse(error: unknown, path: Buffer): never {
  const refusal = refusalOf(error);
  if (!refusal || path.length === 0) throw error;
  throw new Refusal(refusal.code, `nothing was removed, because of ${path.toString('utf8')}: ${refusal.message}`);
}

function empty(directory: OpenDirectory): void {
  for (const entry of readdirSync(directory.path, { withFileTypes: true, encoding: 'buffer' })) {
    const path = directory.at(entry.name);
    if (!entry.isDirectory()) {
      unlinkSync(path);
      continue;
    }
    {
      using child = openEntry(path);
      empty(child);
    }
    rmdirSync(path);
  }
}
