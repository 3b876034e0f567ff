import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { WorkspaceError } from '../errors.ts';

/** What git opens below a git directory, by any depth. Work trees and modules have git directories of their own. */
const deep = new Set(['objects', 'refs', 'logs', 'info', 'lfs', 'reftable']);

/**
 * Checks what every symbolic link of a git directory or an object directory leads to: git follows them, one file of objects at a time.
 * A pipe would keep git waiting for ever, so a repository with one is refused.
 */
export async function checkLinks(folder: string, check: (path: string) => Promise<void>): Promise<void> {
  const isObjects = basename(folder) === 'objects';
  const seen = new Set<string>();
  const look = async (at: string, isDeep: (name: string) => boolean): Promise<void> => {
    if (seen.has(at)) return;
    seen.add(at);
    for (const entry of await entriesOf(at)) {
      const path = join(at, entry.name);
      if (entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice()) {
        throw new WorkspaceError('ESOURCEUNREADABLE', `The repository has a pipe or device in it: ${path}`);
      }
      if (entry.isSymbolicLink()) {
        const real = await realpath(path).catch(() => undefined);
        if (real === undefined) continue;
        await check(real);
        if (isDeep(entry.name)) await look(real, always);
      } else if (entry.isDirectory() && isDeep(entry.name)) await look(path, always);
    }
  };
  await look(folder, isObjects ? always : (name) => deep.has(name));
}

const always = (): boolean => true;

/** A file, or a folder that is gone or closed to us, has none. git as its owner reads what is closed to us only on a host that is not root's. */
const entriesOf = (path: string) => readdir(path, { withFileTypes: true }).catch(() => []);
