import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../is-executable.ts';

export interface BwrapPlaces {
  /** Taken before anything else, first first. */
  candidates: readonly string[];
  /** Directory where the set-up has unpacked bubblewrap, or has put a link to the system's. */
  unpacked?: string | undefined;
  /** Search path. */
  path: string;
}

export interface FoundBwrap {
  path: string;
  /** Whether only root may change it. */
  isRoots: boolean;
  /** The directory with the record of what the set-up has unpacked; null for any other bubblewrap. */
  unpacked: string | null;
}

/** The first one with --disable-userns. */
const NEEDED = [0, 8] as const;

/**
 * The system's bubblewrap comes before the unpacked one, because what a sandbox runs as can never change a program that belongs to root.
 * It must be new enough. Null when there is none.
 */
export function findBwrap({ candidates, unpacked, path }: BwrapPlaces): FoundBwrap | null {
  const named = candidates.find(isExecutable);
  if (named !== undefined) return describe(named, null);
  const installed = path
    .split(':')
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, 'bwrap'))
    .filter(isExecutable)
    .map((found) => describe(found, null));
  const best = installed.find((found) => found.isRoots && isNewEnough(found.path));
  if (best) return best;
  const brought = unpacked === undefined ? undefined : join(unpacked, 'bin/bwrap');
  if (unpacked !== undefined && brought !== undefined && isExecutable(brought)) {
    return describe(brought, isExecutable(join(unpacked, 'usr/bin/bwrap')) ? unpacked : null);
  }
  return installed[0] ?? null;
}

function describe(path: string, unpacked: string | null): FoundBwrap {
  const { uid, mode } = statSync(path);
  return { path, isRoots: uid === 0 && (mode & 0o022) === 0, unpacked };
}

function isNewEnough(path: string): boolean {
  try {
    const text = execFileSync(path, ['--version'], { encoding: 'utf8', env: {}, timeout: 5000, stdio: 'pipe' });
    const [major = 0, minor = 0] = text.match(/\d+/g)?.map(Number) ?? [];
    return major > NEEDED[0] || minor >= NEEDED[1];
  } catch {
    return false;
  }
}
