import { createHash } from 'node:crypto';
import { lstatSync, lutimesSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { identify, pidScope } from '@holdpoint/process';
import { type Deps, errnoOf, WorkspaceError } from '../../deps.ts';

const pollMs = 20;
const longestMs = 120_000;
const touchMs = 10_000;
/** A lock of another container counts as abandoned after this time without a touch. */
const staleMs = 60_000;

/**
 * Runs `work` while no other process of this host writes to the same source directory. The lock is a symbolic link with its owner as the
 * target: link and content appear in a single step. A waiter breaks the lock of a dead owner. A stopped owner counts as alive: the owner
 * may continue and write, and two processes would finish two journals concurrently. An owner in another container cannot be checked: its
 * lock is broken after a minute without a touch.
 */
export async function withSourceLock<T>(
  deps: Pick<Deps, 'dataDir' | 'onPoint'>,
  source: string,
  work: () => Promise<T>,
): Promise<T> {
  const folder = join(deps.dataDir, 'locks');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = join(folder, createHash('sha256').update(source).digest('hex').slice(0, 32));
  const until = performance.now() + longestMs;
  while (!take(lock)) {
    if (breakAbandoned(lock)) continue;
    if (performance.now() > until) throw new WorkspaceError('ESOURCEBUSY', `Another publish to ${source} is running.`);
    deps.onPoint('publish.waiting');
    await wait(pollMs);
  }
  const touching = setInterval(() => touch(lock), touchMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    symlinkSync(`${pidScope()} ${process.pid} ${identify(process.pid)?.start} ${counter++}`, lock);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

// Makes two locks of the same process different.
let counter = 0;

function touch(lock: string): void {
  try {
    lutimesSync(lock, new Date(), new Date());
  } catch {
    // Another process presumed this process dead and broke the lock. Each file is checked again before its write.
  }
}

/** A single process at a time: a slow process must not remove the fresh lock made after the abandoned lock. */
function breakAbandoned(lock: string): boolean {
  if (!isAbandoned(lock)) return false;
  const guard = `${lock}.break`;
  if (!take(guard)) {
    if (isAbandoned(guard)) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function isAbandoned(lock: string): boolean {
  try {
    const [place, pid, start] = readlinkSync(lock).split(' ');
    if (place === pidScope()) return String(identify(Number(pid))?.start) !== start;
    return Date.now() - lstatSync(lock).mtimeMs > staleMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
