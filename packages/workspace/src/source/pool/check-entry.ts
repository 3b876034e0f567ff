import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { type Deps, errnoOf } from '../../deps.ts';
import { setAside } from '../../run-folder/index.ts';
import { isIntactPack } from '../../store/objects/index.ts';

const mostRemembered = 10_000;

/**
 * Whether every pack of an entry has its original bytes: the first use in a process reads all bytes, later uses look at the status. A damaged
 * entry goes to the trash, and the run makes the objects itself.
 * @param packs paths without `.pack`
 */
export async function isSoundEntry(deps: Deps, entry: string, packs: readonly string[]): Promise<boolean> {
  const results = await Promise.all(packs.map((pack) => isSoundPack(deps.checkedPacks, pack)));
  const damaged = packs.filter((_, index) => results[index] === false);
  if (damaged.length === 0) return true;
  const why = `${damaged.map((pack) => `${relative(entry, pack)}.pack`).join(', ')}: damaged or missing.`;
  const trash = await setAside(deps, entry, { kind: 'source', name: relative(deps.dataDir, entry), why });
  if (trash !== undefined) deps.logger.warn({ entry, why, trash }, 'damaged objects of a source were set aside');
  return false;
}

async function isSoundPack(checked: Deps['checkedPacks'], pack: string): Promise<boolean> {
  try {
    const id = ['pack', 'idx'].map((kind) => identify(`${pack}.${kind}`)).join(' ');
    const known = checked.get(`${pack} ${id}`);
    if (known !== undefined) return await known;
    const intact = isIntactPack(pack);
    checked.set(`${pack} ${id}`, intact);
    intact.catch(() => checked.delete(`${pack} ${id}`));
    for (const oldest of checked.keys()) if (checked.size > mostRemembered) checked.delete(oldest);
    return await intact;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The change time is left out: each run with a link to the pack sets this time. */
function identify(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}
