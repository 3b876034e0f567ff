import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isAlive, pidNamespace } from '@holdpoint/process';

/** Ends with what `mkdtemp` adds. A worker of another pid namespace has pids that mean nothing here. */
const named = /^holdpoint-stdio-(\d+)-(\d+)-(\d+)-[A-Za-z0-9]{6}$/;
/** Earlier versions named no owner. */
const unnamed = /^holdpoint-stdio-[A-Za-z0-9]{6}$/;
/** A directory has a name for milliseconds. */
const abandonedMs = 600_000;

/** A directory for files that lose their names with it. No other user can pass it. Its name says which process made it. */
export function makeStdioDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const start = identify(process.pid)?.start ?? 0;
  return mkdtempSync(join(parent, `holdpoint-stdio-${pidNamespace()}-${process.pid}-${start}-`));
}

/** Removes what workers of this user left that were killed in the moment in between. */
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
    return []; // it is made with its first directory
  }
}
