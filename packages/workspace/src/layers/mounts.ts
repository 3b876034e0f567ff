import { execFile } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Owner, WorkspaceError } from '../port.ts';

const script = fileURLToPath(new URL('mount-overlay.pl', import.meta.url));
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
  /** How often to try while the upper folder is part of another mount, with growing pauses. @default 40, which take 15 s */
  rounds?: number;
}

/**
 * Mounts an overlay for every process of the host: 15 ms. When two processes mount the same, one succeeds and the other waits for it.
 * A sandbox that starts copies all mounts for a moment, so an unmounted tree can be busy for as long.
 * Throws EWORKSPACEBUSY while the upper folder is part of another mount.
 */
export async function mountOverlay({ layer, upper, work, target, owner, rounds = 40 }: OverlayMount): Promise<void> {
  for (let round = 1; !isMountPoint(target); round++) {
    // A volatile overlay marks its folder as unsafe after a power failure. Trees of another boot are never mounted.
    rmSync(join(work, 'work', 'incompat'), { recursive: true, force: true });
    const end = await startMount([layer, upper, work, target, String(owner.uid), String(owner.gid)]);
    if (end === undefined) return;
    if (round === rounds || !end.isBusy) {
      throw new WorkspaceError(end.isBusy ? 'EWORKSPACEBUSY' : 'EIO', `A tree could not be mounted: ${end.message}`);
    }
    await sleep(20 * round);
  }
}

async function startMount(args: string[]): Promise<{ isBusy: boolean; message: string } | undefined> {
  try {
    await run('perl', [script, ...args], hostOptions);
    return undefined;
  } catch (error) {
    const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
    return { isBusy: code === busyExit, message: stderr?.trim() || message };
  }
}

/** Exit code of the script for EBUSY. */
const busyExit = 16;

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

/** The kernel writes space, tab, newline and backslash as octal digits. */
const unescapeOctal = (text: string): string =>
  Buffer.from(
    text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))),
    'latin1',
  ).toString();

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
