import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/** A process of this boot: a later process with the same pid has a later start time. */
export interface ProcessIdentity {
  pid: number;
  /** Linux: clock ticks since boot. Elsewhere: seconds since the epoch. */
  start: number;
}

const isLinux = process.platform === 'linux';

/** Null when no process has the pid. A zombie counts as none, because a zombie runs nothing and holds nothing. */
export function identify(pid: number): ProcessIdentity | null {
  const start = isLinux ? startFromProc(pid) : startFromPs(pid);
  return start === null ? null : { pid, start };
}

export function isAlive({ pid, start }: ProcessIdentity): boolean {
  return identify(pid)?.start === start;
}

/** Identifies the boot of this machine. Empty where the kernel has no boot id. */
export function bootId(): string {
  return isLinux ? readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() : '';
}

/** Number of this process's pid namespace. Empty where there are none. */
export function pidNamespace(): string {
  return isLinux ? (/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '') : '';
}

/** Within one scope (boot and pid namespace) a pid means the same process. */
export function pidScope(): string {
  return `${bootId()}:${pidNamespace()}`;
}

/** From the content of /proc/PID/stat, read by another process while the pid could not be reused. Null for a zombie. */
export function identityFrom(pid: number, stat: string): ProcessIdentity | null {
  const start = startOf(stat);
  return start === null ? null : { pid, start };
}

function startFromProc(pid: number): number | null {
  try {
    // Any encoding would do. Node reads utf8 in one call, and latin1 in five calls and twice the time.
    return startOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null; // ENOENT, or ESRCH when the process ends during the read
  }
}

function startOf(stat: string): number | null {
  // The name (field 2) may contain spaces and brackets. The start time is field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : Number(fields[19]);
}

function startFromPs(pid: number): number | null {
  try {
    const options = { encoding: 'utf8', stdio: 'pipe', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } } as const;
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], options).trim();
    const [, state = 'Z', date = ''] = /^(\S+)\s+(.*)$/.exec(text) ?? [];
    return state.startsWith('Z') ? null : Date.parse(date) / 1000;
  } catch {
    return null;
  }
}
