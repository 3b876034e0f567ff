import { readFileSync } from 'node:fs';

/** A process of this boot. The start time makes it unique: a recycled pid has a later one. */
export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot, field 22 of /proc/PID/stat. */
  start: number;
}

/** Null when there is no such process, or it is a zombie: a zombie runs nothing and holds nothing. */
export function identify(pid: number): ProcessIdentity | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null; // ENOENT, or ESRCH when it ended while being read
  }
  // the name (field 2) may hold spaces and brackets
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  if (state === 'Z' || state === 'X') return null;
  return { pid, start: Number(fields[19]) };
}

export function isAlive({ pid, start }: ProcessIdentity): boolean {
  return identify(pid)?.start === start;
}

/** Sends SIGKILL if it is still the same process. */
export function killProcess(identity: ProcessIdentity): void {
  if (isAlive(identity)) sendKill(identity.pid);
}

export function killProcesses(identities: readonly ProcessIdentity[]): void {
  for (const identity of identities) killProcess(identity);
}

/** Sends SIGKILL to the group that this process leads. A group's number is not given out again while it has members. */
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

/** Children of the process's main thread. Empty when it is gone, or when the kernel does not list children. */
export function childrenOf(pid: number): ProcessIdentity[] {
  let list: string;
  try {
    list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
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
