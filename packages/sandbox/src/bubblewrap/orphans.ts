import { readdirSync, readFileSync } from 'node:fs';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import { isBwrapCommandLine } from './profile.ts';

/**
 * Finds the first processes of sandboxes without their bubblewrap. When bubblewrap is killed just after making the namespaces, the first
 * process has run no program and waits for bubblewrap for ever. An orphan is garbage, no matter which worker started the sandbox.
 *
 * @param uid owner of the processes. Root finds the orphans of all users: other users may end only their own processes
 */
export function findOrphans(uid = process.getuid?.() ?? 0): ProcessIdentity[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isBubblewrap(name) && isOrphan(name, uid))
    .map((name) => identify(Number(name)));
  return found.filter((identity) => identity !== null);
}

function isOrphan(pid: string, uid: number): boolean {
  const status = read(`/proc/${pid}/status`);
  if (uid !== 0 && /^Uid:\t(\d+)/m.exec(status)?.[1] !== String(uid)) return false;
  const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1];
  // The last number is the pid in the innermost namespace. A process of the worker's own namespace has a single number.
  const isFirst = /^NSpid:(?:\t\d+)+\t1$/m.test(status);
  // bubblewrap has no capabilities, the first process has some. When the worker died before sending the options, the sandbox has no pid
  // namespace.
  const hasCapabilities = /^CapEff:\t0*[1-9a-f]/m.test(status);
  return (isFirst || hasCapabilities) && parent !== undefined && !isBubblewrap(parent);
}

function isBubblewrap(pid: string): boolean {
  return isBwrapCommandLine(read(`/proc/${pid}/cmdline`));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // the process has ended
  }
}
