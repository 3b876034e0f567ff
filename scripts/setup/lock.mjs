import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { SetupError } from './error.mjs';
import { codeOf, isAlive } from './process.mjs';
import { createReminder } from './reminder.mjs';

const pollMs = 200;
const refreshMs = 20_000;
/** An owner refreshes its lock, so an old lock has no owner, even if another process has its process id by now. */
const staleMs = 5 * 60_000;

/**
 * Runs `work` while no other set-up of this clone runs. The lock is a symbolic link whose target names its owner:
 * a single system call creates link and content, so a lock always has an owner.
 *
 * @template T
 * @param {{path: string, progress: (text: string) => void}} options
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock({ path: lock, progress }, work) {
  const remind = createReminder(progress);
  while (!take(lock)) {
    if (breakStale(lock)) continue;
    remind(`another set-up is running (${readOwner(lock) ?? 'just ended'}); waiting for it`);
    await setTimeout(pollMs);
  }
  const refresh = setInterval(() => {
    const now = new Date();
    fs.lutimes(lock, now, now, () => undefined);
  }, refreshMs);
  try {
    return await work();
  } finally {
    clearInterval(refresh);
    fs.rmSync(lock, { force: true });
  }
}

/** @param {string} lock */
function take(lock) {
  try {
    fs.mkdirSync(path.dirname(lock), { recursive: true });
    fs.symlinkSync(`${process.pid}@${os.hostname()}`, lock);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new SetupError(`cannot write ${lock}: ${error}`, 'Make the project directory writable for this user.');
  }
}

/**
 * Removes a lock whose owner is gone. Only one process may remove a lock at a time: otherwise a slow second process would
 * remove the new lock of the first.
 *
 * @param {string} lock
 * @returns {boolean} whether the lock may be tried again at once
 */
function breakStale(lock) {
  if (!isStale(lock)) return false;
  const guard = `${lock}.break`;
  if (!take(guard)) {
    if (isStale(guard)) fs.rmSync(guard, { force: true });
    return false;
  }
  try {
    if (isStale(lock)) fs.rmSync(lock, { force: true });
    return true;
  } finally {
    fs.rmSync(guard, { force: true });
  }
}

/** @param {string} lock */
function isStale(lock) {
  const owner = readOwner(lock);
  const stat = fs.lstatSync(lock, { throwIfNoEntry: false });
  if (owner === undefined || stat === undefined) return false;
  if (Date.now() - stat.mtimeMs > staleMs) return true;
  const [pid, host] = owner.split('@');
  return host === os.hostname() && !isAlive(Number(pid));
}

/** @param {string} lock */
function readOwner(lock) {
  try {
    return fs.readlinkSync(lock);
  } catch {
    return undefined;
  }
}
