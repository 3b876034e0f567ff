import { readdirSync, readFileSync } from 'node:fs';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import { COMMAND_LINE } from './command-line.ts';

/**
 * First processes of sandboxes that have lost their bubblewrap. When bubblewrap is killed just after it made the namespaces, the first
 * process waits for it for ever, without having run anything. Whosever sandbox it was, it is garbage.
 */
export function findOrphans(): ProcessIdentity[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isBubblewrap(name) && isOrphan(name))
    .map((name) => identify(Number(name)));
  return found.filter((identity) => identity !== null);
}

function isOrphan(pid: string): boolean {
  const status = read(`/proc/${pid}/status`);
  const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1];
  // the last number is the pid in its own namespace; there is only one for a process of this namespace
  const isFirst = /^NSpid:(?:\t\d+)+\t1$/m.test(status);
  // bubblewrap itself has none; a worker that died before it sent the options left a sandbox without a pid namespace
  const hasCapabilities = /^CapEff:\t0*[1-9a-f]/m.test(status);
  return (isFirst || hasCapabilities) && parent !== undefined && !isBubblewrap(parent);
}

function isBubblewrap(pid: string): boolean {
  return read(`/proc/${pid}/cmdline`).startsWith(COMMAND_LINE);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // it has ended
  }
}
