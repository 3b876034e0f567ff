import { statfsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Holdings } from './holdings.ts';
import { type HostMemory, kibibytes } from './host-memory.ts';

const KIB = 1024;
const TMPFS = 0x01021994;
/** An inode, its entry in a directory, and a name of middle length. */
const INODE_BYTES = KIB;
/** What a socket of AF_UNIX may buffer: net.core.wmem_default and the last message. The filter lets no program ask for more. */
const SOCKET_BYTES = 256 * KIB;
/** A pipe gets 64 KiB, until the pipes of its user have 64 MiB together; each further one gets 8 KiB. */
const PIPE_BYTES = 64 * KIB;
const ALL_PIPES_BYTES = 64 * KIB * KIB;
const LATER_PIPE_BYTES = 8 * KIB;
/** The kernel lets a busy TCP socket buffer more: net.ipv4.tcp_rmem and tcp_wmem. */
const TCP_BYTES = 36 * KIB * KIB;

/**
 * Memory of a command where no control group counts it: what its processes hold alone, their part of what they share, their page tables,
 * and files in memory (/tmp, /dev/shm, memfd_create). What cannot be seen counts as what it may be: buffers as full, those of TCP as no
 * more than the host's have grown since the command began, and a hidden share as all shared memory that the host has gained since then.
 *
 * @param input.limit a smaller sum need not be exact
 * @param input.held what else the processes hold
 * @param input.before the host's memory when the command began
 */
export async function memoryUse(input: {
  processes: readonly number[];
  limit: number;
  held: Holdings;
  before: HostMemory;
  now: HostMemory;
}): Promise<number> {
  const { processes, limit, held, before, now } = input;
  const files = held.memory + temporaryBytes(processes[0]);
  const hidden = held.uncounted.memory ? now.shared - before.shared : 0;
  const whole = await sum(processes, 'status', ['RssAnon', 'RssShmem', 'VmSwap', 'VmPTE']);
  const tables = whole.VmPTE;
  const visible = whole.RssAnon + whole.VmSwap + tables + Math.max(whole.RssShmem + files, hidden);
  const buffered = buffers(held, now.tcp - before.tcp);
  if (visible + buffered <= limit) return 0;
  // pages that several processes map count once
  const part = await sum(processes, 'smaps_rollup', ['Pss_Anon', 'Pss_Shmem', 'SwapPss']);
  return part.Pss_Anon + part.SwapPss + tables + Math.max(part.Pss_Shmem, files, hidden) + buffered;
}

function buffers({ sockets, pipes }: Holdings, tcpGrowth: number): number {
  const tcp = Math.max(0, Math.min(tcpGrowth, sockets * TCP_BYTES));
  const piped = Math.min(pipes * PIPE_BYTES, ALL_PIPES_BYTES) + pipes * LATER_PIPE_BYTES;
  return sockets * SOCKET_BYTES + piped + tcp;
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
      const { blocks, bfree, bsize, files, ffree, type } = statfsSync(path);
      // while it is being set up it still sees the host's
      if (type !== TMPFS || statSync(path).dev === statSync(`/${directory}`).dev) continue;
      bytes += (blocks - bfree) * bsize + (files - ffree) * INODE_BYTES;
    } catch {
      // it has ended, or is being set up
    }
  }
  return bytes;
}
