import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Deps } from '../deps.ts';
import { hostOptions, mountPointsIn } from './mounts.ts';
import { overlayFile } from './overlay-record.ts';

const run = promisify(execFile);

/** Every sandbox copies the table of mounts when it starts: 64 take 0.2 ms. */
const maxMounts = 64;
const minute = 60_000;

/**
 * Unmounts the trees that were not used for the longest time: beyond 64, those unused for 10 minutes, and all that were not used for an
 * hour. The next use mounts them again. A tree that some process uses stays.
 */
export async function boundMounts(
  deps: Pick<Deps, 'dataDir' | 'now' | 'isRoot'>,
  input: { most?: number } = {},
): Promise<void> {
  if (!deps.isRoot || process.platform !== 'linux') return;
  const points = mountPointsIn(join(deps.dataDir, 'runs')).filter((path) => basename(dirname(path)) === 'trees');
  const { most = maxMounts } = input;
  if (points.length === 0) return;
  const idle = points.map((path) => ({ path, idleMs: deps.now() - usedAt(path) })).sort((a, b) => a.idleMs - b.idleMs);
  const unused = idle
    .map((one, index) => ({ ...one, allowedMs: (index < most ? 60 : 10) * minute }))
    .filter(({ idleMs, allowedMs }) => idleMs > allowedMs);
  if (unused.length === 0) return;
  const others = [...devicesOfOthers().values()];
  for (const { path, allowedMs } of unused) {
    const device = deviceOf(path);
    // A worker may have begun to use it while the processes of the host were read.
    if (others.some((devices) => devices.has(device)) || deps.now() - usedAt(path) <= allowedMs) continue;
    // Not lazily: the kernel refuses while a process of this mount namespace has a file of it open.
    await run('umount', ['-n', '--', path], hostOptions).catch(() => {});
  }
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

/** Devices that are mounted in other mount namespaces, by namespace: sandboxes keep their own mount of a tree. */
export function devicesOfOthers(): Map<string, Set<string>> {
  const own = readlinkSync('/proc/self/ns/mnt');
  const others = new Map<string, Set<string>>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const namespace = readlinkSync(`/proc/${pid}/ns/mnt`);
      if (namespace === own || others.has(namespace)) continue;
      const lines = readFileSync(`/proc/${pid}/mountinfo`, 'latin1').split('\n');
      others.set(namespace, new Set(lines.map((line) => line.split(' ')[2] ?? '')));
    } catch {
      // The process has ended.
    }
  }
  return others;
}
