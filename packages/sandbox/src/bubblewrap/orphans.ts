import { readdirSync, readFileSync } from 'node:fs';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import { isBwrapCommandLine } from './command-line.ts';

/**
 * First processes of sandboxes that have lost their bubblewrap. When bubblewrap is killed just after it made the namespaces, the first
 * process waits for it for ever and has run nothing. Such a process is garbage, whichever worker started it.
 *
 * @param uid whose: a user who is not root may end no others
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
  // The last number is the pid in the innermost namespace. A process of this namespace has only one.
  const isFirst = /^NSpid:(?:\t\d+)+\t1$/m.test(status);
  // bubblewrap itself has none. When the worker died before it sent the options, the sandbox has no pid namespace.
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
