import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { linkFile, syncPath } from '../files/index.ts';
import { journaledObjects } from './journal/index.ts';
import { writePack } from './objects/index.ts';

/**
 * Links the objects of a bare repository into another, or copies them where the file system has no hard links. Objects never change, so
 * sharing is safe; each repository removes only its own names. The links are on disk at the return.
 *
 * During a collection of the other repository, a name may vanish (ENOENT), or the listing may miss both the old and the new pack. The
 * caller checks for completeness and calls again, to add the objects existing by then.
 */
export async function linkObjects(from: string, to: string): Promise<void> {
  // First: a fold with its end at this moment has packed the journaled objects. Their shown files are not on disk, and not linked.
  const journaled = journaledObjects(from);
  const [source, target] = [join(from, 'objects'), join(to, 'objects')];
  for (const name of readdirSync(source)) {
    if (name !== 'pack' && !/^[0-9a-f]{2}$/.test(name)) continue;
    const folder = join(target, name);
    mkdirSync(folder, { recursive: true });
    const files = readdirSync(join(source, name));
    for (const file of files.filter((one) => isObject(one, files))) {
      await linkFile(join(source, name, file), join(folder, file));
    }
    await syncPath(folder);
  }
  if (journaled.length > 0) await writePack(to, journaled);
  // Lists the commits whose parents were not fetched.
  if (existsSync(join(from, 'shallow'))) await linkFile(join(from, 'shallow'), join(to, 'shallow'));
  await syncPath(target);
  await syncPath(to);
}

/** Whether the file is a loose object or belongs to a complete pack. */
function isObject(name: string, all: readonly string[]): boolean {
  if (/^[0-9a-f]{38}$/.test(name)) return true;
  const pack = /^(pack-[0-9a-f]{40})\.(pack|idx)$/.exec(name)?.[1];
  return pack !== undefined && all.includes(`${pack}.pack`) && all.includes(`${pack}.idx`);
}
