// Mount namespaces, kept by the starter for the programs of sandboxes. Part of the starter, so plain JavaScript as well.
import { execFile, spawn } from 'node:child_process';
import { closeSync, constants, openSync, statSync } from 'node:fs';

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { Report, ViewRequest } from './protocol.ts'
 */

/** The starter kills the maker of a view after this time. The maker may hang, e.g. on a dead network mount. */
const viewTimeoutMs = 10_000;

/**
 * A mount namespace, kept by an open descriptor of the starter. Programs open the namespace by its path below the starter's /proc entry: an
 * inherited descriptor would be passed on to the sandbox.
 *
 * @typedef {object} View
 * @property {number | null} fd null until the namespace is made
 * @property {number} users number of running programs that make or enter the namespace
 * @property {boolean} isDropped whether the view ends with its last user
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
  maker.stdin?.on('error', () => {}); // the maker has ended
  maker.stdout?.once('data', () => {
    view.fd = openNamespace(maker, shows);
    maker.stdin?.end();
  });
  // Not `close`: a program hanging in the kernel may hold the pipes after a kill.
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
 * Opens the maker's mount namespace. Null when the maker has ended, or when a path in the namespace shows another file than the worker saw:
 * a path can be replaced in between, and the view would keep the replacement. The maker's pid belongs to no other process until Node
 * reports the maker's end.
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
    return null; // the maker has ended, or the path is gone
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
