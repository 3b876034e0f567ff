import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { errnoOf, WorkspaceError } from '../../errors.ts';

const pollMs = 20;
const longestMs = 60_000;

/**
 * Runs `work` while no other process of this host writes to the same source directory. The lock is a symbolic link whose target names its
 * owner, so it appears together with its content. It is broken only when the owner is dead: one that was stopped may go on writing when it
 * is continued, and then two journals would be brought to their end at once.
 */
export async function withSourceLock<T>(dataDir: string, source: string, work: () => Promise<T>): Promise<T> {
  const folder = join(dataDir, 'locks');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = join(folder, createHash('sha256').update(source).digest('hex').slice(0, 32));
  const until = Date.now() + longestMs;
  while (!take(lock)) {
    if (breakDead(lock)) continue;
    if (Date.now() > until) {
      throw new WorkspaceError(
        'ESOURCEBUSY',
        `Another publish to ${source} is under way (${ownerOf(lock) ?? 'ending'}).`,
      );
    }
    await wait(pollMs);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    symlinkSync(`${process.pid} ${startOf(process.pid) ?? ''} ${counter++}`, lock);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

// Two locks of one process are different, too.
let counter = 0;

/** One process at a time, so that a slow one does not remove the fresh lock that follows the dead one. */
function breakDead(lock: string): boolean {
  if (!isDead(lock)) return false;
  const guard = `${lock}.break`;
  if (!take(guard)) {
    if (isDead(guard)) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (isDead(lock)) rmSync(lock, { force: true });
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function isDead(lock: string): boolean {
  const [pid = '', start = ''] = ownerOf(lock)?.split(' ') ?? [];
  return pid !== '' && startOf(Number(pid)) !== start;
}

function ownerOf(lock: string): string | undefined {
  try {
    return readlinkSync(lock);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** When a process began, in clock ticks since boot: tells it from a later one with the same id. Undefined when there is none. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0) ? '' : undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : fields[18];
  } catch (error) {
    if (errnoOf(error) === 'EPERM') return '';
    return undefined;
  }
}
