import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { errnoOf } from '../../errors.ts';
import { isIntactPack } from '../objects/index.ts';
import type { Checks, Damage } from './checks.ts';

/**
 * Reads the packs of an entry as a whole at their first use in this process. Later uses look at their status.
 * @param packs paths without `.pack`
 */
export async function findDamagedPacks(
  { checks }: { checks: Checks },
  { entry, packs }: { entry: string; packs: readonly string[] },
): Promise<Damage> {
  const results = await Promise.all(packs.map((pack) => checkPack(checks, pack)));
  const damaged = packs.filter((_, index) => results[index] !== undefined);
  if (damaged.length === 0) return undefined;
  return `${damaged.map((pack) => `${relative(entry, pack)}.pack`).join(', ')}: damaged or missing.`;
}

async function checkPack(checks: Checks, pack: string): Promise<Damage> {
  try {
    const id = `${pack} ${['pack', 'idx'].map((kind) => identify(`${pack}.${kind}`)).join(' ')}`;
    return await checks.check({ id }, async () => ((await isIntactPack(pack)) ? undefined : 'damaged'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'missing';
    throw error;
  }
}

/** The change time is left out: each run with a link to the pack sets this time. */
function identify(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}
