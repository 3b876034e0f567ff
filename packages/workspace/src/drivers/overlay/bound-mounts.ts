import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mountPointsIn } from '../../bounds/mounts.ts';
import type { Deps } from '../../deps.ts';
import { overlayFile, overlayOf, unmountUnused } from './mounts.ts';
import { deviceOf, devicesInUse } from './other-namespaces.ts';

/** Every sandbox copies the table of mounts at its start: 64 take 0.2 ms. */
const maxMounts = 64;
const minute = 60_000;

const pauseMs = 500;

/**
 * Unmounts the least recently used trees: beyond 64, trees unused for 10 minutes, and every tree unused for an hour. The next use mounts
 * them again. A tree in use by any process stays.
 * @param input.waitMs how long to retry refused unmounts. @default a single try
 */
export async function boundMounts(
  deps: Pick<Deps, 'dataDir' | 'now' | 'isRoot'>,
  input: { most?: number; waitMs?: number } = {},
): Promise<void> {
  if (!deps.isRoot || process.platform !== 'linux') return;
  const { waitMs = 0 } = input;
  for (let left = waitMs; ; left -= pauseMs) {
    const unused = unusedTrees(deps, input);
    if (unused.length === 0) return;
    const inUse = await devicesInUse();
    for (const { path, allowedMs } of unused) {
      // A worker may have begun to use the tree while the processes of the host were read.
      if (inUse.has(deviceOf(path)) || deps.now() - usedAt(path) <= allowedMs) continue;
      await unmountUnused([path]).catch(() => {});
    }
    if (left <= 0) return;
    await sleep(pauseMs);
  }
}

function unusedTrees(
  deps: Pick<Deps, 'dataDir' | 'now'>,
  { most = maxMounts }: { most?: number },
): { path: string; allowedMs: number }[] {
  const points = mountPointsIn(join(deps.dataDir, 'runs')).filter((path) => basename(dirname(path)) === 'trees');
  const idle = points.map((path) => ({ path, idleMs: deps.now() - usedAt(path) })).sort((a, b) => a.idleMs - b.idleMs);
  return idle
    .map((one, index) => ({ ...one, allowedMs: (index < most ? 60 : 10) * minute }))
    .filter(({ idleMs, allowedMs }) => idleMs > allowedMs);
}

function usedAt(tree: string): number {
  return statSync(overlayFile(overlayOf({ tree })), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
