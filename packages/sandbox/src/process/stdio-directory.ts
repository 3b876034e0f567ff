import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isAlive, pidNamespace } from '@holdpoint/process';

/** Pid namespace, pid and start time of the owner, and the suffix of `mkdtemp`. Pids of another pid namespace are meaningless here. */
const named = /^holdpoint-stdio-(\d+)-(\d+)-(\d+)-[A-Za-z0-9]{6}$/;
/** Names of directories from earlier versions, without an owner. */
const unnamed = /^holdpoint-stdio-[A-Za-z0-9]{6}$/;
/** A directory exists for milliseconds, so an unowned directory is abandoned after this time. */
const abandonedMs = 600_000;

/**
 * Makes a directory for files with a short-lived name: removing the directory removes their names. No other user can pass the directory.
 * The directory's name identifies its process.
 */
export function makeStdioDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const start = identify(process.pid)?.start ?? 0;
  return mkdtempSync(join(parent, `holdpoint-stdio-${pidNamespace()}-${process.pid}-${start}-`));
}

/** Removes abandoned directories: a worker of this user was killed between making and removing a directory. */
export function sweepStdioDirectories(parent: string): void {
  for (const name of namesIn(parent)) {
    const path = join(parent, name);
    if (isAbandoned(name, path)) rmSync(path, { recursive: true, force: true });
  }
}

function isAbandoned(name: string, path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return false;
  if (unnamed.test(name)) return Date.now() - found.mtimeMs > abandonedMs;
  const [, namespace, pid, start] = named.exec(name) ?? [];
  return namespace === String(pidNamespace()) && !isAlive({ pid: Number(pid), start: Number(start) });
}

function namesIn(parent: string): string[] {
  try {
    return readdirSync(parent);
  } catch {
    return []; // `makeStdioDirectory` makes the parent later
  }
}
