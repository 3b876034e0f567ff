import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';

/** Holds the folders of unknown runs and damaged folders, for a person to look at: `<name>~<milliseconds since 1970>`. */
export const trashFolder = (dataDir: string): string => join(dataDir, 'trash');

/** In a damaged folder of the trash: the kind of the folder, and its differences from the original. */
export const damageFile = (path: string): string => join(path, 'damage.json');

/** A folder shared by several runs, no longer usable. */
export interface Damaged {
  readonly kind: 'layer' | 'source' | 'prepared';
  /** Its place in the data directory. */
  readonly name: string;
  readonly why: string;
}

/**
 * Moves a damaged folder, shared by several runs, to the trash. The runs' mounts and hard links of the folder stay.
 * @returns its new place; undefined when another process was faster
 */
export async function setAside(
  deps: { dataDir: string; now: () => number },
  path: string,
  damaged: Damaged,
): Promise<string | undefined> {
  const trash = trashFolder(deps.dataDir);
  const to = join(trash, `${damaged.kind}-${randomBytes(6).toString('hex')}~${deps.now()}`);
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  try {
    renameSync(path, to);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
  writeFileSync(damageFile(to), JSON.stringify({ ...damaged, at: new Date(deps.now()).toISOString() }), {
    mode: 0o600,
  });
  return to;
}
