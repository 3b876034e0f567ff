import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';
import { syncFolder } from '../files/write-durably.ts';

/** How often a collection of the other repository may come in between. */
const mostRounds = 10;

/**
 * Gives one bare repository the objects of another, by hard links where the file system can. Objects never change, so they can be shared;
 * each repository removes its own names only. When a collection takes one away under our hands, its content is in a new pack by then: look again.
 */
export async function linkObjects(from: string, to: string): Promise<void> {
  const [source, target] = [join(from, 'objects'), join(to, 'objects')];
  for (let round = 1; ; round++) {
    try {
      linkFolders(source, target);
      break;
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || round === mostRounds) throw error;
      rmSync(join(target, 'pack'), { recursive: true, force: true });
    }
  }
  if (existsSync(join(from, 'shallow'))) copyFileSync(join(from, 'shallow'), join(to, 'shallow'));
  for (const name of readdirSync(target)) await syncFolder(join(target, name));
  await syncFolder(target);
  await syncFolder(to);
}

function linkFolders(source: string, target: string): void {
  for (const name of readdirSync(source)) {
    if (name !== 'pack' && !/^[0-9a-f]{2}$/.test(name)) continue;
    mkdirSync(join(target, name), { recursive: true });
    // An index makes its pack known, so it comes after it.
    const files = readdirSync(join(source, name)).filter(isObject).sort(byKind);
    for (const file of files) link(join(source, name, file), join(target, name, file));
  }
}

const isObject = (name: string): boolean => /^([0-9a-f]{38}|pack-[0-9a-f]{40}\.(pack|idx|rev))$/.test(name);

const byKind = (a: string, b: string): number => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx'));

function link(source: string, target: string): void {
  if (existsSync(target)) return;
  try {
    linkSync(source, target);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'].includes(errno)) throw error;
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}
