import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SandboxError } from '../errors.ts';
import type { FoundBwrap } from './find-bwrap.ts';

/** What scripts/setup/bubblewrap.mjs writes: each file by its path in the directory. */
const recordSchema = z.record(z.string(), z.strictObject({ sha256: z.string(), mode: z.int() }));
const RECORD = 'unpacked.json';

interface SealedFile {
  path: string;
  /** Null where only root may change it. */
  sha256: string | null;
  /** Null: any that keeps others from writing. */
  mode: number | null;
  /** What stat said when it was last found as it should be. */
  seen: string;
}

/** Says whether bubblewrap is still the program that the set-up unpacked, or that was there when the worker started. */
export interface Seal {
  /** Throws `SandboxError` ESANDBOXCHANGED. One stat per file (10 µs) while nothing has changed. */
  check(): void;
}

export function seal(found: FoundBwrap): Seal {
  const files = found.unpacked === null ? [sealed(found)] : recorded(found.unpacked);
  for (const file of files) verify(file);
  return {
    check() {
      for (const file of files) if (look(file.path) !== file.seen) verify(file);
    },
  };
}

function sealed({ path, isRoots }: FoundBwrap): SealedFile {
  return { path, sha256: isRoots ? null : hash(path), mode: null, seen: '' };
}

function recorded(directory: string): SealedFile[] {
  const record = recordSchema.safeParse(readRecord(join(directory, RECORD)));
  if (!record.success) throw changed(directory, 'the record of what was unpacked is missing or unreadable');
  return Object.entries(record.data).map(([name, file]) => ({ ...file, path: join(directory, name), seen: '' }));
}

function verify(file: SealedFile): void {
  const before = look(file.path);
  if (before === null) throw changed(file.path, 'it is gone');
  const mode = statSync(file.path).mode & 0o7777;
  if ((mode & 0o022) !== 0) throw changed(file.path, `other users may write to it (mode ${mode.toString(8)})`);
  if (file.mode !== null && mode !== file.mode) {
    throw changed(file.path, `its mode is ${mode.toString(8)}, not ${file.mode.toString(8)}`);
  }
  if (file.sha256 !== null && hash(file.path) !== file.sha256) throw changed(file.path, 'its content has changed');
  file.seen = before;
}

/** Everything that changes when a file is changed or replaced. */
function look(path: string): string | null {
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
  return new SandboxError('ESANDBOXCHANGED', `bubblewrap is not as it was (${path}): ${how}. Nothing is run with it.`, {
    retryable: false,
    next:
      'Find out who changed it. Then run `npm run setup`, which unpacks it again, and restart the workers; or install the package ' +
      '`bubblewrap`, whose program belongs to root.',
  });
}
