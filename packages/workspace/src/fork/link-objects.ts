import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../errors.ts';
import { syncFile, syncFolder } from '../files/write-durably.ts';

/**
 * Gives one bare repository the objects of another, by hard links where the file system can. Objects never change, so they can be shared;
 * each repository removes its own names only. What it writes is on disk when it returns.
 *
 * A collection of the other repository may be under way: then a name may vanish under our hands, which is ENOENT, or none of the old and
 * the new pack may be in the list. Whether everything is there is for the caller to see; called again, it adds what there is by then.
 */
export async function linkObjects(from: string, to: string): Promise<void> {
  const [source, target] = [join(from, 'objects'), join(to, 'objects')];
  for (const name of readdirSync(source)) {
    if (name !== 'pack' && !/^[0-9a-f]{2}$/.test(name)) continue;
    const folder = join(target, name);
    mkdirSync(folder, { recursive: true });
    const files = readdirSync(join(source, name));
    for (const file of files.filter((one) => isObject(one, files))) {
      await linkFile(join(source, name, file), join(folder, file));
    }
    await syncFolder(folder);
  }
  // Tells where the history was cut off that was not fetched.
  if (existsSync(join(from, 'shallow'))) await linkFile(join(from, 'shallow'), join(to, 'shallow'));
  await syncFolder(target);
  await syncFolder(to);
}

/** A loose object, or one of the files of a pack that is complete. */
function isObject(name: string, all: readonly string[]): boolean {
  if (/^[0-9a-f]{38}$/.test(name)) return true;
  const pack = /^(pack-[0-9a-f]{40})\.(pack|idx)$/.exec(name)?.[1];
  return pack !== undefined && all.includes(`${pack}.pack`) && all.includes(`${pack}.idx`);
}

/** Links a file that never changes, or copies it where that cannot be. The folder is the caller's to fsync. */
export async function linkFile(source: string, target: string): Promise<void> {
  if (existsSync(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  try {
    linkSync(source, target);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'].includes(errno)) throw error;
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
    await syncFile(target);
  }
}
