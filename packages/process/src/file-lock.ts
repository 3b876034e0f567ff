import { setTimeout } from 'node:timers/promises';

/** The lower byte of an extended code is the code. */
const isBusy = (code: unknown): boolean => typeof code === 'number' && (code & 0xff) === 5;

/**
 * Runs `work` while no other process of this machine does the same for this path. The kernel releases the lock of a dead process: SQLite
 * locks an empty file at the path, which stays.
 * @param signal ends the wait for the lock, not the work
 * @throws the reason of the signal
 */
export async function withFileLock<Result>(
  { path, signal }: { path: string; signal: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result> {
  const { DatabaseSync } = await import('node:sqlite');
  const lock = new DatabaseSync(path);
  try {
    while (!taken(lock)) {
      signal.throwIfAborted();
      await setTimeout(5 + Math.random() * 20);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function taken(lock: { exec(sql: string): void }): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error && isBusy(error.errcode))) throw error;
    return false;
  }
}
