import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { WorkspaceError } from '../../errors.ts';

/** Folders of a git directory read by git at any depth. Work trees and modules have their own git directories. */
const deep = new Set(['objects', 'refs', 'logs', 'info', 'lfs', 'reftable']);

/**
 * Checks the target of every symbolic link in a git directory or an object directory, because git follows them. A repository with a pipe or
 * a device is refused: git would wait for such a file for ever.
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
        throw new WorkspaceError('ESOURCEUNREADABLE', `The repository contains a pipe or device: ${path}`);
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

/**
 * Empty for a file, and for a missing or unreadable folder. Where this process is not root, git cannot read an unreadable folder either.
 */
const entriesOf = (path: string) => readdir(path, { withFileTypes: true }).catch(() => []);
