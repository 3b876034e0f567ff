import { readdirSync, readlinkSync } from 'node:fs';
import type { ProcessIdentity } from '@holdpoint/process';

/** Host pids of all processes in the pid namespace of one, as far as this user may look: its own, and for root everybody's. */
export function processesOfNamespace({ pid }: ProcessIdentity): number[] {
  const namespace = namespaceOf(String(pid));
  if (namespace === null) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && namespaceOf(name) === namespace)
    .map(Number);
}

function namespaceOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null; // it has ended, or is another user's
  }
}
