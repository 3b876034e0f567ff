import { createHash } from 'node:crypto';
import { lstatSync, lutimesSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { identify, pidScope } from '@holdpoint/process';
import type { Deps } from '../../deps.ts';
import { errnoOf, WorkspaceError } from '../../errors.ts';

const pollMs = 20;
const longestMs = 120_000;
const touchMs = 10_000;
/** Without a touch for so long, a lock whose owner cannot be looked at counts as left behind. */
const staleMs = 60_000;

/**
 * Runs `work` while no other process of this host writes to the same source directory. The lock is a symbolic link whose target names its
 * owner, so it appears together with its content. It is broken when the owner is dead. One that was stopped is alive: it may go on writing
 * when it is continued, and then two journals would be brought to their end at once. Of an owner in another container it cannot be told
 * whether it lives; its lock is broken when it has not been touched for a minute.
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
    if (breakLeft(lock)) continue;
    if (performance.now() > until)
      throw new WorkspaceError('ESOURCEBUSY', `Another publish to ${source} is under way.`);
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

// Two locks of one process are different, too.
let counter = 0;

function touch(lock: string): void {
  try {
    lutimesSync(lock, new Date(), new Date());
  } catch {
    // It was broken by somebody who took us for dead. Each file is looked at again before it is written.
  }
}

/** One process at a time, so that a slow one does not remove the fresh lock that follows the one left behind. */
function breakLeft(lock: string): boolean {
  if (!isLeft(lock)) return false;
  const guard = `${lock}.break`;
  if (!take(guard)) {
    if (isLeft(guard)) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (isLeft(lock)) rmSync(lock, { force: true });
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function isLeft(lock: string): boolean {
  try {
    const [place, pid, start] = readlinkSync(lock).split(' ');
    if (place === pidScope()) return String(identify(Number(pid))?.start) !== start;
    return Date.now() - lstatSync(lock).mtimeMs > staleMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
