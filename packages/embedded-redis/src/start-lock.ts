import { lstat, lutimes, readlink, rm, symlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

const pollMs = 50;
const refreshMs = 10_000;
/** An owner refreshes its lock, so an old lock has no owner, even when another process has its id by now. */
const staleMs = 60_000;

/**
 * Runs `work` while no other process starts a server on the same data. Two servers would append to the same file, and the second would
 * replace the socket of the first. The lock is a symbolic link with the owner as its target: link and content appear in a single step.
 */
export async function withStartLock<T>(
  { lock, signal }: { lock: string; signal: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  while (!(await take(lock))) {
    signal?.throwIfAborted();
    if (!(await breakStale(lock))) await wait(pollMs, undefined, { signal });
  }
  const refresh = setInterval(() => {
    const now = new Date();
    lutimes(lock, now, now).catch(() => undefined);
  }, refreshMs);
  try {
    return await work();
  } finally {
    clearInterval(refresh);
    await rm(lock, { force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await symlink(`${process.pid}@${hostname()}`, lock);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** A slow process must not remove a fresh lock made after the stale lock, so the removal holds a second lock. */
async function breakStale(lock: string): Promise<boolean> {
  if (!(await isStale(lock))) return false;
  const guard = `${lock}.break`;
  if (!(await take(guard))) {
    if (await isStale(guard)) await rm(guard, { force: true });
    return false;
  }
  try {
    if (await isStale(lock)) await rm(lock, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

async function isStale(lock: string): Promise<boolean> {
  try {
    const [pid = '', host] = (await readlink(lock)).split('@');
    if (Date.now() - (await lstat(lock)).mtimeMs > staleMs) return true;
    return host === hostname() && !isAlive(Number(pid));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
