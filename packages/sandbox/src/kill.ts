import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { identify, isAlive, type ProcessIdentity } from '@holdpoint/process';

/** Sends SIGKILL if the pid is still the same process. */
export function killProcess(identity: ProcessIdentity): void {
  if (isAlive(identity)) sendKill(identity.pid);
}

export function killProcesses(identities: readonly ProcessIdentity[]): void {
  for (const identity of identities) killProcess(identity);
}

/** Sends SIGKILL to the group of this leader. The kernel does not reuse a group's number while the group has members. */
export function killGroup(leader: number): void {
  sendKill(-leader);
}

function sendKill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Pid of the process's parent. Null when the process has ended. */
export function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}

/** Children of the process's main thread. Empty when the process has ended, or when the kernel does not list children. */
export function childrenOf(pid: number): ProcessIdentity[] {
  let list: string;
  try {
    list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    return [];
  }
  const children = list
    .trim()
    .split(' ')
    .filter(Boolean)
    .map((child) => identify(Number(child)));
  return children.filter((child) => child !== null);
}

/** The signal for an exit code of 128 + its number, as reported by shells and bubblewrap. Null for any other exit code. */
export function signalOfExitCode(exitCode: number): string | null {
  const entry = Object.entries(constants.signals).find(([, number]) => exitCode === 128 + number);
  return entry ? entry[0] : null;
}
