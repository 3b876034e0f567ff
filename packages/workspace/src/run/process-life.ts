import { readFileSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../errors.ts';

/** Where a process id means the same: since this boot, in this container. */
export function here(): string {
  if (process.platform !== 'linux') return '-';
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return `${boot}:${readlinkSync('/proc/self/ns/pid')}`;
}

/** When a process began, in clock ticks since boot: tells it from a later one with the same id. Undefined when there is none. */
export function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0) ? '' : undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : fields[18];
  } catch (error) {
    if (errnoOf(error) === 'EPERM') return '';
    return undefined;
  }
}
