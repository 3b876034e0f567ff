import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isAlive } from './process.mjs';
import { createReminder } from './reminder.mjs';

const pollMs = 200;
/** No download takes longer. An older record may name the process id of another, later process. */
const staleMs = 15 * 60_000;

/**
 * Records a program's work in this clone until a call of the returned function. When the set-up is killed, its
 * children run for a while: a second `npm ci` must not start while the first `npm ci` still writes.
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
 * Waits until no program of an earlier set-up runs. Call under the lock.
 *
 * @param {{root: string, progress: (text: string) => void}} machine
 * @param {{everyMs?: number}} [options] the interval of the progress lines
 */
export async function waitForLeftRunning({ root, progress }, { everyMs } = {}) {
  const remind = createReminder(progress, everyMs);
  for (;;) {
    const running = fs.existsSync(notesOf(root))
      ? fs.readdirSync(notesOf(root)).filter((name) => runs(root, name))
      : [];
    if (running.length === 0) break;
    remind(`waiting for programs that an interrupted set-up left running (${running.join(', ')})`);
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
