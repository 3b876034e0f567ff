import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../is-executable.ts';

export interface BwrapSearch {
  /** Paths to try first, in order. */
  candidates: readonly string[];
  /** Directory where the set-up unpacked bubblewrap, or linked the system's. */
  unpacked?: string | undefined;
  /** Search path. */
  path: string;
}

export interface FoundBwrap {
  path: string;
  /** Whether only root may change the program. */
  isRootOwned: boolean;
  /** Directory with the set-up's record of the unpacked files. Null for any other bubblewrap. */
  unpacked: string | null;
}

/** The first version with --disable-userns. */
const minVersion = [0, 8] as const;

/**
 * Prefers a new enough bubblewrap of root to the unpacked bubblewrap: a sandbox's uid can never change root's programs. Null when no
 * bubblewrap is found.
 */
export function findBwrap({ candidates, unpacked, path }: BwrapSearch): FoundBwrap | null {
  const named = candidates.find(isExecutable);
  if (named !== undefined) return describe(named, null);
  const installed = path
    .split(':')
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, 'bwrap'))
    .filter(isExecutable)
    .map((found) => describe(found, null));
  const best = installed.find((found) => found.isRootOwned && isNewEnough(found.path));
  if (best) return best;
  const local = unpacked === undefined ? undefined : join(unpacked, 'bin/bwrap');
  if (unpacked !== undefined && local !== undefined && isExecutable(local)) {
    return describe(local, isExecutable(join(unpacked, 'usr/bin/bwrap')) ? unpacked : null);
  }
  return installed[0] ?? null;
}

function describe(path: string, unpacked: string | null): FoundBwrap {
  const { uid, mode } = statSync(path);
  return { path, isRootOwned: uid === 0 && (mode & 0o022) === 0, unpacked };
}

function isNewEnough(path: string): boolean {
  try {
    const text = execFileSync(path, ['--version'], { encoding: 'utf8', env: {}, timeout: 5000, stdio: 'pipe' });
    const [major = 0, minor = 0] = text.match(/\d+/g)?.map(Number) ?? [];
    return major > minVersion[0] || minor >= minVersion[1];
  } catch {
    return false;
  }
}
