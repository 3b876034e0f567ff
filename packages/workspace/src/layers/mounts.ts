import { execFile } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Owner, WorkspaceError } from '../port.ts';
import { foreignMounts } from './other-namespaces.ts';
import { unescapeOctal } from './unescape-octal.ts';

const mountScript = fileURLToPath(new URL('mount-overlay.pl', import.meta.url));
const adoptScript = fileURLToPath(new URL('adopt-mount.pl', import.meta.url));
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
/** Options of the programs that mount and unmount. */
export const hostOptions = { env, cwd: '/', timeout: 30_000 } as const;
const run = promisify(execFile);

/** What an overlay is made of: host paths on one file system. */
export interface OverlayMount {
  /** Folder that is mounted read-only. Its files belong to the user of this process. */
  layer: string;
  upper: string;
  work: string;
  target: string;
  owner: Owner;
  /**
   * File to lock, for a tree that was mounted before: when another mount namespace has kept its mount, which the kernel mounts once only, a
   * copy of that mount is used. @default it is not looked for
   */
  adoptWith?: string;
  /** How often to try while the upper folder is part of another mount, with growing pauses. @default 40, which take 15 s */
  rounds?: number;
}

/**
 * Mounts an overlay for every process of the host: 15 ms. When two processes mount the same, one succeeds and the other waits for it.
 * A sandbox that starts copies all mounts for a moment, so an unmounted tree can be busy for as long.
 * Throws EWORKSPACEBUSY while the upper folder is part of another mount.
 */
export async function mountOverlay(mount: OverlayMount): Promise<void> {
  const { layer, upper, work, target, owner, adoptWith, rounds = 40 } = mount;
  for (let round = 1; !isMountPoint(target); round++) {
    // A volatile overlay marks its folder as unsafe after a power failure. Trees of another boot are never mounted.
    rmSync(join(work, 'work', 'incompat'), { recursive: true, force: true });
    const end = await startMount([layer, upper, work, target, String(owner.uid), String(owner.gid)]);
    if (end === undefined) return;
    if (end.isBusy && adoptWith !== undefined && (await adoptMount(target, adoptWith))) return;
    if (round === rounds || !end.isBusy) {
      throw new WorkspaceError(end.isBusy ? 'EWORKSPACEBUSY' : 'EIO', `A tree could not be mounted: ${end.message}`);
    }
    await sleep(20 * round);
  }
}

async function startMount(args: string[]): Promise<{ isBusy: boolean; message: string } | undefined> {
  try {
    await run('perl', [mountScript, ...args], hostOptions);
    return undefined;
  } catch (error) {
    const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
    return { isBusy: code === busyExit, message: stderr?.trim() || message };
  }
}

/** Exit code of the script for EBUSY. */
const busyExit = 16;

/** A new mount namespace begins with all mounts of the host, and some keep them. @returns whether the tree is mounted */
async function adoptMount(target: string, lock: string): Promise<boolean> {
  for (const { pid, point } of foreignMounts()) {
    if (point !== target) continue;
    // The namespace may have ended, or be one that a user of the host has made.
    await run('perl', [adoptScript, pid, target, lock], hostOptions).catch(() => {});
    if (isMountPoint(target)) return true;
  }
  return false;
}

/** Whether something is mounted at a folder of the data directory. */
export function isMountPoint(path: string): boolean {
  const device = statSync(path, { throwIfNoEntry: false })?.dev;
  return device !== undefined && device !== statSync(dirname(path)).dev;
}

/** Mount points at or below a path, the deepest first. */
export function mountPointsIn(path: string): string[] {
  const found = readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .map((line) => unescapeOctal(line.split(' ')[4] ?? ''))
    .filter((point) => point === path || point.startsWith(`${path}/`));
  return found.reverse();
}

/** Mounts at `target` what is mounted at `source`, which needs nothing of the overlay: a second mount of it may be refused as busy. */
export async function moveMount(source: string, target: string): Promise<void> {
  await run('mount', ['-n', '--bind', '--', source, target], hostOptions);
  await run('umount', ['-n', '-l', '--', source], hostOptions);
}

/** Takes away every mount at or below a path. Processes that use one keep it. @param isWanted @default all of them */
export async function unmountIn(path: string, isWanted: (point: string) => boolean = () => true): Promise<void> {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return;
  const points = mountPointsIn(path).filter(isWanted);
  if (points.length === 0) return;
  // Another process may be faster: what matters is that none is left.
  await run('umount', ['-n', '-l', '--', ...points], hostOptions).catch(() => {});
  const left = mountPointsIn(path).filter(isWanted);
  if (left.length > 0) throw new WorkspaceError('EIO', `${left[0]} could not be unmounted.`);
}
