// Mount namespaces that the starter keeps for the programs that it starts. Part of the starter, so plain JavaScript as well.
import { execFile, spawn } from 'node:child_process';
import { closeSync, constants, openSync, statSync } from 'node:fs';

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { Report, ViewRequest } from './protocol.ts'
 */

/** A view that hangs in its making, e.g. on a dead network mount, is given up after this time. */
const viewTimeoutMs = 10_000;

/**
 * A mount namespace, which an open descriptor keeps. The programs that enter it open it by its path here: one that inherited it would pass it on.
 *
 * @typedef {object} View
 * @property {number | null} fd null until it is made
 * @property {number} users how many of the programs that make it and that enter it have not ended
 * @property {boolean} isDropped whether its last user ends it
 */

/** @type {Map<number, View>} By request */
export const views = new Map();

/**
 * @param {ViewRequest} request
 * @param {(message: Report) => void} report
 */
export function makeView({ id, program, args, shows, trial }, report) {
  /** @type {View} */
  const view = { fd: null, users: 1, isDropped: false };
  views.set(id, view);
  const finish = (/** @type {boolean} */ isUsable) => {
    if (!isUsable) view.isDropped = true;
    report({ kind: 'view', id, isUsable });
    leaveView(id, view);
  };
  /** @type {ChildProcess} */
  let maker;
  try {
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
    maker = spawn(program, args, { env, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
  } catch {
    return finish(false);
  }
  if (maker.pid === undefined) {
    maker.once('error', () => finish(false));
    return;
  }
  const hung = setTimeout(() => maker.kill('SIGKILL'), viewTimeoutMs);
  maker.stdin?.on('error', () => {}); // it has ended
  maker.stdout?.once('data', () => {
    view.fd = openNamespace(maker, shows);
    maker.stdin?.end();
  });
  // Not `close`: a program that hangs in the kernel may hold the pipes after it was killed.
  maker.once('exit', () => {
    clearTimeout(hung);
    if (view.fd === null) return finish(false);
    const options = { env: {}, cwd: '/', timeout: viewTimeoutMs, killSignal: /** @type {const} */ ('SIGKILL') };
    try {
      execFile(trial.program, [...trial.lead, viewOption(view.fd), ...trial.args], options, (error) => finish(!error));
    } catch {
      finish(false); // e.g. ETXTBSY
    }
  });
}

/**
 * Null when the program has ended, or made something else visible than the worker has seen: a path can be exchanged in between, and
 * the view would keep it. Until Node reports its end, its pid is no other process's.
 *
 * @param {ChildProcess} maker
 * @param {ViewRequest['shows']} shows
 */
function openNamespace({ pid, exitCode, signalCode }, shows) {
  if (exitCode !== null || signalCode !== null) return null;
  try {
    const isAsSeen = shows.every(({ path, identity }) => identityOf(`/proc/${pid}/root${path}`) === identity);
    return isAsSeen ? openSync(`/proc/${pid}/ns/mnt`, constants.O_RDONLY) : null;
  } catch {
    return null; // it has ended, or the path is gone
  }
}

/** @param {string} path */
function identityOf(path) {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
  return [dev, ino, birthtimeNs].join();
}

/** @param {number} fd */
export const viewOption = (fd) => `--mount=/proc/${process.pid}/fd/${fd}`;

/** @param {number} id */
export function dropView(id) {
  const view = views.get(id);
  if (!view) return;
  view.isDropped = true;
  closeUnused(id, view);
}

/**
 * @param {number} id
 * @param {View} view
 */
export function leaveView(id, view) {
  view.users--;
  closeUnused(id, view);
}

/**
 * @param {number} id
 * @param {View} view
 */
function closeUnused(id, view) {
  if (!view.isDropped || view.users > 0) return;
  if (view.fd !== null) closeSync(view.fd);
  views.delete(id);
}
