import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isAlive } from './process.mjs';

const pollMs = 200;
/** No download takes longer; an older record names a process id that somebody else has by now. */
const staleMs = 15 * 60_000;

/**
 * Notes that a program works in this clone, until the returned function is called. When the set-up is killed, what it
 * had started goes on for a while: an `npm ci` that still writes, which a second one must not meet.
 *
 * @param {string} root
 * @param {number | undefined} pid
 */
export function noteRunning(root, pid) {
  if (pid === undefined) return () => undefined;
  const note = path.join(notesOf(root), `${pid}@${os.hostname()}`);
  fs.mkdirSync(path.dirname(note), { recursive: true });
  fs.writeFileSync(note, '');
  return () => fs.rmSync(note, { force: true });
}

/**
 * Waits until nothing of an earlier set-up runs any more. Call it under the lock.
 *
 * @param {{root: string, progress: (text: string) => void}} machine
 */
export async function waitForLeftRunning({ root, progress }) {
  let told = false;
  for (;;) {
    const running = fs.existsSync(notesOf(root))
      ? fs.readdirSync(notesOf(root)).filter((name) => runs(root, name))
      : [];
    if (running.length === 0) break;
    if (!told) progress(`waiting for what an interrupted set-up left running (${running.join(', ')})`);
    told = true;
    await setTimeout(pollMs);
  }
  fs.rmSync(notesOf(root), { recursive: true, force: true });
}

/**
 * @param {string} root
 * @param {string} name
 */
function runs(root, name) {
  const stat = fs.statSync(path.join(notesOf(root), name), { throwIfNoEntry: false });
  const [pid, host] = name.split('@');
  return stat !== undefined && Date.now() - stat.mtimeMs < staleMs && host === os.hostname() && isAlive(Number(pid));
}

/** @param {string} root */
function notesOf(root) {
  return path.join(root, '.cache/setup.running');
}
