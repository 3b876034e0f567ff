import { statfsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Holdings } from './holdings.ts';

const KIB = 1024;
const TMPFS = 0x01021994;

/**
 * Memory of a command where no control group counts it: what its processes hold alone, their part of what they share, and files in memory
 * (/tmp, /dev/shm, memfd_create). A share that cannot be seen counts as all shared memory that the host has gained since it began.
 *
 * @param input.limit a smaller sum need not be exact
 * @param input.held what else the processes hold
 * @param input.sharedBefore the host's shared memory when the command began
 */
export async function memoryUse(input: {
  processes: readonly number[];
  limit: number;
  held: Holdings;
  sharedBefore: number;
}): Promise<number> {
  const { processes, limit, held } = input;
  const files = held.memory + temporaryBytes(processes[0]);
  const hidden = held.uncounted.memory ? (await sharedMemory()) - input.sharedBefore : 0;
  const whole = await sum(processes, 'status', ['RssAnon', 'RssShmem', 'VmSwap']);
  if (whole.RssAnon + whole.VmSwap + Math.max(whole.RssShmem + files, hidden) <= limit) return 0;
  // pages that several processes map count once
  const part = await sum(processes, 'smaps_rollup', ['Pss_Anon', 'Pss_Shmem', 'SwapPss']);
  return part.Pss_Anon + part.SwapPss + Math.max(part.Pss_Shmem, files, hidden);
}

/** Shared mappings and files in memory of the whole host, in bytes. */
export async function sharedMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'latin1').catch(() => '');
  return kibibytes(text, 'Shmem');
}

async function sum<Name extends string>(
  processes: readonly number[],
  file: string,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  const sums = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  for (const pid of processes) {
    const text = await readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
    for (const name of names) sums[name] += kibibytes(text, name);
  }
  return sums;
}

/** What the file systems in memory hold that a command may write to; all of its processes see the same. */
function temporaryBytes(pid: number | undefined): number {
  let bytes = 0;
  for (const directory of pid === undefined ? [] : ['tmp', 'dev/shm']) {
    try {
      const path = `/proc/${pid}/root/${directory}`;
      const { blocks, bfree, bsize, type } = statfsSync(path);
      // while it is being set up it still sees the host's
      if (type === TMPFS && statSync(path).dev !== statSync(`/${directory}`).dev) bytes += (blocks - bfree) * bsize;
    } catch {
      // it has ended, or is being set up
    }
  }
  return bytes;
}

function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * KIB;
}
