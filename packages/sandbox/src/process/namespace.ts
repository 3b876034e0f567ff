import { readdirSync, readlinkSync } from 'node:fs';
import type { ProcessIdentity } from '@holdpoint/process';

/** Host pids of all processes in the pid namespace of a process. An unprivileged user sees only its own processes. */
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
    return null; // the process has ended, or belongs to another user
  }
}
