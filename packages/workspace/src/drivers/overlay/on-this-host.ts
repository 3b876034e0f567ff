import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mountPointsIn } from '../../bounds/mounts.ts';
import type { TreesSetting } from '../../port/sharing.ts';
import { unmountUnused } from './mounts.ts';
import { deviceOf, devicesInUse } from './other-namespaces.ts';
import { createSharing } from './sharing.ts';

export { defaultTrees, treesSettings } from '../../port/sharing.ts';
export { findDamagedLayers, listSetAside } from './check-layer.ts';

/** Why the trees of an existing data directory are copies on this host; undefined when they stand on shared layers. */
export const whyCopies = (input: { setting: TreesSetting; dataDir: string }): Promise<string | undefined> =>
  createSharing(input).reason();

/** Folders of the data directory with trees. */
const folders = ['runs', 'making', 'discarding', 'trash'] as const;
const pauseMs = 100;

/**
 * Unmounts the trees below a data directory once its workers have ended. A tree in use by any process stays mounted.
 * @param waitMs how long to wait for ending processes
 * @returns how many stay
 */
export async function unmountTrees(dataDir: string, waitMs = 5000): Promise<number> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 0;
  for (let left = waitMs; ; left -= pauseMs) {
    const points = treesIn(dataDir);
    if (points.length === 0) return 0;
    const inUse = await devicesInUse();
    const free = points.filter((point) => !inUse.has(deviceOf(point)));
    if (free.length > 0) await unmountUnused(free).catch(() => {});
    const stay = treesIn(dataDir).length;
    if (stay === 0 || left <= 0) return stay;
    await sleep(pauseMs);
  }
}

/** The number of mounted trees below a data directory, trees of killed workers included. */
export const countMountedTrees = (dataDir: string): number =>
  process.platform === 'linux' ? treesIn(dataDir).length : 0;

/** A disk of the operator may be mounted at the folder. */
function treesIn(dataDir: string): string[] {
  let top: string;
  try {
    top = realpathSync(dataDir);
  } catch {
    return [];
  }
  return folders.flatMap((name) => mountPointsIn(join(top, name)).filter((point) => point !== join(top, name)));
}
