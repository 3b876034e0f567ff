import { statfsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { UnlinkedUsage } from '../workspace-size/unlinked-usage.ts';

const kib = 1024;
const tmpfsMagic = 0x01021994;
/** An inode, its directory entry and a name of medium length. */
const inodeBytes = kib;
/** Maximum buffer of an AF_UNIX socket: net.core.wmem_default and the last message. The filter lets no program ask for more. */
const socketBytes = 256 * kib;
/** A pipe gets 64 KiB until the user's pipes have 64 MiB together. Each further pipe gets 8 KiB. */
const pipeBytes = 64 * kib;
const allPipesBytes = 64 * kib * kib;
const laterPipeBytes = 8 * kib;
/** The kernel lets a busy TCP socket buffer more: net.ipv4.tcp_rmem and tcp_wmem. */
const tcpBytes = 36 * kib * kib;
const pageBytes = 4096;

/**
 * Memory of a command without a control group: private memory of its processes, their part of shared memory, page tables, and files in
 * memory (/tmp, /dev/shm, memfd_create). Hidden memory counts at its maximum: buffers as full, TCP buffers as at most the growth of the
 * host's since the command began, and a hidden share as all growth of the host's shared memory since then.
 *
 * @param input.limit a sum below the limit need not be exact
 * @param input.unlinked usage by files without a name, sockets and pipes
 * @param input.before the host's memory when the command began
 */
export async function memoryUse(input: {
  processes: readonly number[];
  limit: number;
  unlinked: UnlinkedUsage;
  before: HostMemory;
  now: HostMemory;
}): Promise<number> {
  const { processes, limit, unlinked, before, now } = input;
  const files = unlinked.memory + temporaryBytes(processes[0]);
  const hidden = unlinked.uncounted.memory ? now.shared - before.shared : 0;
  const whole = await sum(processes, 'status', ['RssAnon', 'RssShmem', 'VmSwap', 'VmPTE']);
  const tables = whole.VmPTE;
  const visible = whole.RssAnon + whole.VmSwap + tables + Math.max(whole.RssShmem + files, hidden);
  const buffered = buffers(unlinked, now.tcp - before.tcp);
  if (visible + buffered <= limit) return 0;
  // Pages mapped by several processes count once.
  const part = await sum(processes, 'smaps_rollup', ['Pss_Anon', 'Pss_Shmem', 'SwapPss']);
  return part.Pss_Anon + part.SwapPss + tables + Math.max(part.Pss_Shmem, files, hidden) + buffered;
}

function buffers({ sockets, pipes }: UnlinkedUsage, tcpGrowth: number): number {
  const tcp = Math.max(0, Math.min(tcpGrowth, sockets * tcpBytes));
  const piped = Math.min(pipes * pipeBytes, allPipesBytes) + pipes * laterPipeBytes;
  return sockets * socketBytes + piped + tcp;
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

/** Use of the command's writable in-memory file systems. All processes of a command see the same file systems. */
function temporaryBytes(pid: number | undefined): number {
  let bytes = 0;
  for (const directory of pid === undefined ? [] : ['tmp', 'dev/shm']) {
    try {
      const path = `/proc/${pid}/root/${directory}`;
      const { blocks, bfree, bsize, files, ffree, type } = statfsSync(path);
      // During its set-up a process still sees the host's file systems.
      if (type !== tmpfsMagic || statSync(path).dev === statSync(`/${directory}`).dev) continue;
      bytes += (blocks - bfree) * bsize + (files - ffree) * inodeBytes;
    } catch {
      // The process has ended, or is in its set-up.
    }
  }
  return bytes;
}

/** Memory of the whole host, in bytes. */
export interface HostMemory {
  /** Shared mappings and files in memory. */
  shared: number;
  /** Memory still available to programs. */
  available: number;
  /** Buffers of the TCP sockets in all network namespaces. */
  tcp: number;
}

export async function hostMemory(): Promise<HostMemory> {
  const [meminfo, sockets] = await Promise.all(
    ['/proc/meminfo', '/proc/net/sockstat'].map((path) => readFile(path, 'latin1').catch(() => '')),
  );
  return {
    shared: kibibytes(meminfo ?? '', 'Shmem'),
    available: kibibytes(meminfo ?? '', 'MemAvailable'),
    tcp: Number(/^TCP: .* mem (\d+)$/m.exec(sockets ?? '')?.[1] ?? 0) * pageBytes,
  };
}

/** A value of /proc/meminfo or /proc/PID/status, in bytes. */
function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * kib;
}
