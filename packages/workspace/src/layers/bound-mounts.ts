import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Deps } from '../deps.ts';
import { hostOptions, mountPointsIn } from './mounts.ts';
import { overlayFile } from './overlay-record.ts';

const run = promisify(execFile);

/** Every sandbox copies the table of mounts when it starts: 64 take 0.2 ms. */
const maxMounts = 64;
const minute = 60_000;

const pauseMs = 500;

/**
 * Unmounts the trees that were not used for the longest time: beyond 64, those unused for 10 minutes, and all that were not used for an
 * hour. The next use mounts them again. A tree that some process uses stays.
 * @param input.waitMs how long to look again and again for trees that only a starting sandbox has. @default one look
 */
export async function boundMounts(
  deps: Pick<Deps, 'dataDir' | 'now' | 'isRoot'>,
  input: { most?: number; waitMs?: number } = {},
): Promise<void> {
  if (!deps.isRoot || process.platform !== 'linux') return;
  const { waitMs = 0 } = input;
  const lookAtOthers = openLook();
  for (let left = waitMs; ; left -= pauseMs) {
    const unused = unusedTrees(deps, input);
    if (unused.length === 0) return;
    const inUse = lookAtOthers();
    for (const { path, allowedMs } of unused) {
      // A worker may have begun to use it while the processes of the host were read.
      if (inUse.has(deviceOf(path)) || deps.now() - usedAt(path) <= allowedMs) continue;
      // Not lazily: the kernel refuses while a process of this mount namespace has a file of it open.
      await run('umount', ['-n', '--', path], hostOptions).catch(() => {});
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
  const overlay = join(dirname(dirname(tree)), 'overlays', basename(tree));
  return statSync(overlayFile(overlay), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** As the kernel names a device in mountinfo. */
export function deviceOf(path: string): string {
  const { dev } = statSync(path, { bigint: true });
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  return `${major}:${minor}`;
}

/**
 * Looks again and again for the devices that others use. A sandbox has all mounts of the host while it starts, which is no use: only mount
 * namespaces that were there at the first look count.
 */
export function openLook(): () => Set<string> {
  let lasting: string[] | undefined;
  return () => {
    const others = devicesOfOthers();
    lasting = lasting?.filter((namespace) => others.has(namespace)) ?? [...others.keys()];
    return new Set(lasting.flatMap((namespace) => [...(others.get(namespace) ?? [])]));
  };
}

/**
 * Devices that are mounted in other mount namespaces, by namespace: sandboxes keep their own mount of a tree. The key has the first process of
 * the namespace, because the kernel gives the number of one that is gone to the next one.
 */
function devicesOfOthers(): Map<string, Set<string>> {
  const seen = new Set([readlinkSync('/proc/self/ns/mnt')]);
  const others = new Map<string, Set<string>>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const namespace = readlinkSync(`/proc/${pid}/ns/mnt`);
      if (seen.has(namespace)) continue;
      const lines = readFileSync(`/proc/${pid}/mountinfo`, 'latin1').split('\n');
      others.set(`${namespace} ${pid}`, new Set(lines.map((line) => line.split(' ')[2] ?? '')));
      seen.add(namespace);
    } catch {
      // The process has ended.
    }
  }
  return others;
}
