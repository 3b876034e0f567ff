import { readFileSync } from 'node:fs';
import type { ProcessIdentity } from '@holdpoint/process';

/** PF_EXITING of the kernel's process flags. */
const exiting = 0x4;
/** SIGKILL and SIGSTOP in a mask of signals. No process can ignore them. */
const killOrStop = (1n << 8n) | (1n << 18n);

/**
 * Whether a process with a single thread is neither stopped nor ending, and has no pending SIGKILL or SIGSTOP. The first process of a pid
 * namespace stays visible until the kernel has ended all other processes of the namespace, so visibility alone proves little.
 */
export function isUndisturbed({ pid, start }: ProcessIdentity): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const pending = [...status.matchAll(/^(?:Sig|Shd)Pnd:\t([0-9a-f]+)$/gm)].map(([, mask]) => BigInt(`0x${mask}`));
    if (pending.some((mask) => (mask & killOrStop) !== 0n)) return false;
    // Read last: a signal delivered before shows in the state and the flags.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name (field 2) may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', flags, since] = [fields[0], Number(fields[6]), Number(fields[19])];
    return since === start && !'TtZX'.includes(state) && (flags & exiting) === 0;
  } catch {
    return false; // the process has ended
  }
}
