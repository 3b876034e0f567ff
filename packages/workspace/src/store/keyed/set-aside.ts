import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { errnoOf } from '../../errors.ts';
import type { Logger } from '../../port/logger.ts';
import { folderOfKind, type Kind } from './kind.ts';

/** Holds the folders of unknown runs and damaged folders, for a person to look at: `<name>~<milliseconds since 1970>`. */
export const trashFolder = (dataDir: string): string => join(dataDir, 'trash');

/** In a damaged folder of the trash: the kind of the folder, and its differences from the original. */
export const damageFile = (path: string): string => join(path, 'damage.json');

/**
 * Moves a damaged entry to the trash. The runs' mounts and hard links of the entry stay. Does nothing when another process was faster.
 * @param why a sentence with paths
 */
export function setAside(
  deps: { dataDir: string; now: () => number; logger: Logger },
  kind: Kind,
  { entry, why }: { entry: string; why: string },
): void {
  const trash = trashFolder(deps.dataDir);
  const to = join(trash, `${kind.name}-${randomBytes(6).toString('hex')}~${deps.now()}`);
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  try {
    renameSync(entry, to);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return;
  }
  const name = relative(folderOfKind(deps.dataDir, kind), entry);
  const damage = { kind: kind.name, name, why, at: new Date(deps.now()).toISOString() };
  writeFileSync(damageFile(to), JSON.stringify(damage), { mode: 0o600 });
  deps.logger.warn(
    { kind: kind.name, entry: name, why, trash: to },
    `a damaged entry of ${kind.folder}/ was set aside`,
  );
}
