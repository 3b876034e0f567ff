import type { ProcessLimits } from '@holdpoint/contract';
import type { Controller } from './locate.ts';

/** Microseconds after which the kernel renews a group's CPU quota. Version 1 has this default, too. */
const periodUs = 100_000;

/** A process that writes `0` to this file of a group enters the group. */
export const attachFile = {
  // `tasks` moves one thread; a shell has no more. Unlike cgroup.procs it needs no lock that waits for every fork on the host:
  // 0.1 ms against 16 ms (memory, the first of the four) and 4 ms (each other).
  1: 'tasks',
  2: 'cgroup.procs',
} as const;

export interface Setting {
  controller: Controller;
  file: string;
  value: string;
  /** Kernels without swap accounting do not have it. */
  optional?: true;
}

/** Settings of a new group, in the order to write them. */
export function settingsOf(version: 1 | 2, limits: ProcessLimits): Setting[] {
  const memory = String(limits.memory_bytes);
  const processes = String(limits.processes);
  const quota = String(Math.max(1000, (limits.cpu_percent * periodUs) / 100));
  if (version === 1) {
    return [
      { controller: 'memory', file: 'memory.limit_in_bytes', value: memory },
      { controller: 'memory', file: 'memory.memsw.limit_in_bytes', value: memory, optional: true },
      // Version 1 counts TCP buffers separately, and only where they have a limit. Above it a connection slows down; nothing is killed.
      { controller: 'memory', file: 'memory.kmem.tcp.limit_in_bytes', value: memory, optional: true },
      { controller: 'pids', file: 'pids.max', value: processes },
      { controller: 'cpu', file: 'cpu.cfs_quota_us', value: quota },
    ];
  }
  return [
    { controller: 'memory', file: 'memory.max', value: memory },
    { controller: 'memory', file: 'memory.swap.max', value: '0', optional: true },
    { controller: 'memory', file: 'memory.oom.group', value: '1', optional: true },
    { controller: 'pids', file: 'pids.max', value: processes },
    { controller: 'cpu', file: 'cpu.max', value: `${quota} ${periodUs}` },
  ];
}

/** Weight of all commands of the host together when processors are short: half of one process of the worker, the API or Redis. */
export const weightOfAll = {
  1: { file: 'cpu.shares', value: '512' },
  2: { file: 'cpu.weight', value: '50' },
} as const;

export interface Usage {
  /** Processes that the kernel killed because the command was out of memory. */
  memory_kills: number;
  /** New processes that the kernel refused. */
  refused_processes: number;
  /** CPU time of all processes on all processors. */
  cpu_ms: number;
  /** The most memory at once; 0: the kernel does not tell. */
  memory_peak_bytes: number;
  /** Periods in which the command had to wait for its share of the processors. */
  throttled_periods: number;
}

interface Counter {
  controller: Controller;
  file: string;
  /** Word before the number. Null where the file contains only the number. */
  word: string | null;
  /** Factor to the unit of `Usage`. */
  unit: number;
}

export const counters: Record<1 | 2, Record<keyof Usage, Counter>> = {
  1: {
    memory_kills: { controller: 'memory', file: 'memory.oom_control', word: 'oom_kill', unit: 1 },
    refused_processes: { controller: 'pids', file: 'pids.events', word: 'max', unit: 1 },
    cpu_ms: { controller: 'cpuacct', file: 'cpuacct.usage', word: null, unit: 1e-6 },
    memory_peak_bytes: { controller: 'memory', file: 'memory.max_usage_in_bytes', word: null, unit: 1 },
    throttled_periods: { controller: 'cpu', file: 'cpu.stat', word: 'nr_throttled', unit: 1 },
  },
  2: {
    memory_kills: { controller: 'memory', file: 'memory.events', word: 'oom_kill', unit: 1 },
    refused_processes: { controller: 'pids', file: 'pids.events', word: 'max', unit: 1 },
    cpu_ms: { controller: 'cpuacct', file: 'cpu.stat', word: 'usage_usec', unit: 1e-3 },
    // Since Linux 5.19.
    memory_peak_bytes: { controller: 'memory', file: 'memory.peak', word: null, unit: 1 },
    throttled_periods: { controller: 'cpu', file: 'cpu.stat', word: 'nr_throttled', unit: 1 },
  },
};
