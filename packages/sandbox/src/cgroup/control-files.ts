import type { ProcessLimits } from '@holdpoint/contract';
import type { Controller } from './locate.ts';

/** Period of a group's CPU quota in microseconds. Also the default of version 1. */
const periodUs = 100_000;

/** A process enters a group by writing `0` to this file of the group. */
export const attachFile = {
  // `tasks` moves a single thread, and a shell has a single thread. cgroup.procs needs a lock and waits for every fork on the host: 16 ms
  // (memory, the first of the four) and 4 ms (each other controller), against 0.1 ms with `tasks`.
  1: 'tasks',
  2: 'cgroup.procs',
} as const;

export interface Setting {
  controller: Controller;
  file: string;
  value: string;
  /** Whether the file may be missing, as on kernels without swap accounting. */
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
      // Version 1 counts TCP buffers separately, and only with a limit for them. Over the limit a connection slows down, and the kernel
      // kills no process.
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

/**
 * Weight of all commands of the host together when processors are short: half of the weight of a single process of the worker, the API or
 * Redis.
 */
export const weightOfAll = {
  1: { file: 'cpu.shares', value: '512' },
  2: { file: 'cpu.weight', value: '50' },
} as const;

export interface Usage {
  /** Processes killed by the kernel because the command was out of memory. */
  memory_kills: number;
  /** New processes refused by the kernel. */
  refused_processes: number;
  /** CPU time of all processes on all processors. */
  cpu_ms: number;
  /** Peak memory; 0: unknown to this kernel. */
  memory_peak_bytes: number;
  /** Number of periods with a wait for the command's CPU quota. */
  throttled_periods: number;
}

interface Counter {
  controller: Controller;
  file: string;
  /** Word before the number. Null when the file contains only the number. */
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
