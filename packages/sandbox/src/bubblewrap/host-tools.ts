import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SandboxError } from '../errors.ts';
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

/** The record of scripts/setup/bubblewrap.mjs: the unpacked files by their paths in the directory. */
const recordSchema = z.record(z.string(), z.strictObject({ sha256: z.string(), mode: z.int() }));
const recordName = 'unpacked.json';

interface CheckedFile {
  path: string;
  /** Null when only root may change the file. */
  sha256: string | null;
  /** Null allows any mode without write access for other users. */
  mode: number | null;
  /** The file's fingerprint at the last passed check. */
  seen: string;
}

/** Checks bubblewrap for changes since the set-up unpacked the program, or since the worker's start for any other bubblewrap. */
export interface IntegrityCheck {
  /** Throws `SandboxError` ESANDBOXCHANGED. One stat per file (10 µs) while nothing has changed. */
  check(): void;
}

export function openIntegrityCheck(found: FoundBwrap): IntegrityCheck {
  const files = found.unpacked === null ? [foundFile(found)] : recordedFiles(found.unpacked);
  for (const file of files) verify(file);
  return {
    check() {
      for (const file of files) if (fingerprint(file.path) !== file.seen) verify(file);
    },
  };
}

function foundFile({ path, isRootOwned }: FoundBwrap): CheckedFile {
  return { path, sha256: isRootOwned ? null : hash(path), mode: null, seen: '' };
}

function recordedFiles(directory: string): CheckedFile[] {
  const record = recordSchema.safeParse(readRecord(join(directory, recordName)));
  if (!record.success) throw changed(directory, 'the record of the unpacked files is missing or unreadable');
  return Object.entries(record.data).map(([name, file]) => ({ ...file, path: join(directory, name), seen: '' }));
}

function verify(file: CheckedFile): void {
  const before = fingerprint(file.path);
  if (before === null) throw changed(file.path, 'it is gone');
  const mode = statSync(file.path).mode & 0o7777;
  if ((mode & 0o022) !== 0) throw changed(file.path, `other users may write to it (mode ${mode.toString(8)})`);
  if (file.mode !== null && mode !== file.mode) {
    throw changed(file.path, `its mode is ${mode.toString(8)}, not ${file.mode.toString(8)}`);
  }
  if (file.sha256 !== null && hash(file.path) !== file.sha256) throw changed(file.path, 'its content has changed');
  file.seen = before;
}

/** Changes whenever the file is changed or replaced. */
function fingerprint(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? [found.dev, found.ino, found.mode, found.uid, found.size, found.mtimeNs, found.ctimeNs].join() : null;
}

function hash(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}

function readRecord(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

function changed(path: string, how: string): SandboxError {
  return new SandboxError(
    'ESANDBOXCHANGED',
    `bubblewrap has changed (${path}): ${how}. The worker refuses to run it.`,
    {
      retryable: false,
      next:
        'Find out what changed it. Then run `npm run setup`, which unpacks it again, and restart the workers; or install the package ' +
        '`bubblewrap`, which belongs to root.',
    },
  );
}

/** Absolute paths of the programs to set up a sandbox. */
export interface HostTools {
  bwrap: string;
  /** Checks bubblewrap. Called before each start. */
  integrity: IntegrityCheck;
  bash: string;
  mkfifo: string;
  /** Null when the host has no such program. Needed only for workspaces unreachable for their uid. */
  setpriv: string | null;
  unshare: string | null;
  nsenter: string | null;
  perl: string | null;
}

/**
 * Throws `SandboxError` ESANDBOXMISSING when a needed program is missing, or ESANDBOXCHANGED when bubblewrap has changed since the set-up.
 */
export function findHostTools(input: {
  bwrapCandidates: BwrapSearch['candidates'];
  unpackedBwrap?: string | undefined;
  path: string;
}): HostTools {
  const directories = input.path.split(':').filter(Boolean);
  const find = (name: string) => directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
  const need = <Found>(name: string, found: Found | null, advice: string): Found => {
    if (found) return found;
    throw new SandboxError('ESANDBOXMISSING', `${name} was not found. The sandbox cannot work without it.`, {
      retryable: false,
      next: advice,
    });
  };
  const bwrap = need(
    'bubblewrap (bwrap)',
    findBwrap({ candidates: input.bwrapCandidates, unpacked: input.unpackedBwrap, path: input.path }),
    'Run `npm run setup`, which unpacks it without root, or install the package `bubblewrap`.',
  );
  return {
    bwrap: bwrap.path,
    integrity: openIntegrityCheck(bwrap),
    bash: need('bash', find('bash'), 'Install the package `bash`.'),
    mkfifo: need('mkfifo', find('mkfifo'), 'Install the package `coreutils`.'),
    setpriv: find('setpriv'),
    unshare: find('unshare'),
    nsenter: find('nsenter'),
    perl: find('perl'),
  };
}
