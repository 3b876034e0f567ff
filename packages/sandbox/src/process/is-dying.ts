import { readFileSync } from 'node:fs';
import type { ProcessIdentity } from '@holdpoint/process';

/** PF_EXITING of the kernel's process flags. */
const exiting = 0x4;
/** SIGKILL in a mask of signals. */
const killBit = 1n << 8n;

/**
 * Whether the process has begun to end, or has a SIGKILL that it did not take yet. The first process of a pid namespace stays visible until
 * the kernel has ended all others in it.
 */
export function isDying({ pid }: ProcessIdentity): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const pending = [...status.matchAll(/^(?:Sig|Shd)Pnd:\t([0-9a-f]+)$/gm)].map(([, mask]) => BigInt(`0x${mask}`));
    if (pending.some((mask) => (mask & killBit) !== 0n)) return true;
    // Read last: a signal that was taken before shows here.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const flags = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6]);
    return (flags & exiting) !== 0;
  } catch {
    return true;
  }
}
