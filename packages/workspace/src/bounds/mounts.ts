import { readFileSync } from 'node:fs';
import { unescapeOctal } from '@holdpoint/process/mountinfo';
import { isWithin } from './path-rules.ts';

interface Mount {
  device: string;
  /** The mounted directory of the file system. */
  root: string;
  at: string;
}

/**
 * Every other path of the same directory in the mounts of this process: `/mnt/x` is `/etc/cron.d` when `/etc/cron.d` is mounted there.
 * Empty without `/proc/self/mountinfo`.
 */
export function mountAliases(path: string): string[] {
  const mounts = readMounts();
  const own = mountOf(mounts, path);
  if (own === undefined) return [];
  const inside = rebasePath(own.root, path, own.at);
  const spellings = mounts
    .filter((mount) => mount.device === own.device && isWithin(inside, mount.root))
    .map((mount) => ({ mount, path: rebasePath(mount.at, inside, mount.root) }))
    // Another mount may hide the spelling.
    .filter((one) => mountOf(mounts, one.path) === one.mount);
  return spellings.map((one) => one.path).filter((one) => one !== path);
}

/** Replaces the prefix `from` of a path by `to`. */
export function rebasePath(to: string, path: string, from: string): string {
  const rest = from === '/' ? path : path.slice(from.length);
  return `${to === '/' ? '' : to}${rest === '/' ? '' : rest}` || '/';
}

function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  let found: Mount | undefined;
  for (const mount of mounts) {
    if (isWithin(path, mount.at) && mount.at.length >= (found?.at.length ?? 0)) found = mount;
  }
  return found;
}

/** In mount order: the last mount at a path hides the earlier ones. */
function readMounts(): Mount[] {
  let text: string;
  try {
    text = readFileSync('/proc/self/mountinfo', 'latin1');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((row) => {
    const [, , device, root, at] = row.split(' ');
    return device === undefined || root === undefined || at === undefined
      ? []
      : [{ device, root: unescapeOctal(root), at: unescapeOctal(at) }];
  });
}

/** Mount points at or below a path, the deepest first. */
export function mountPointsIn(path: string): string[] {
  const found = readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .map((line) => unescapeOctal(line.split(' ')[4] ?? ''))
    .filter((point) => point === path || point.startsWith(`${path}/`));
  return found.reverse();
}
