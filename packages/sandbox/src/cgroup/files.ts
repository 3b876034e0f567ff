import type { Limits } from '../port.ts';
import type { Controller } from './locate.ts';

/** CPU bandwidth is given out anew in each period of so many microseconds. */
const PERIOD_US = 100_000;

/** File of a group that takes in whoever writes `0` to it. */
export const attachFile = {
  // `tasks` moves one thread, which is all of a shell. Unlike cgroup.procs it needs no lock that waits for every fork on the host:
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

/** What to write into a new group, in this order. */
export function settingsOf(version: 1 | 2, limits: Limits): Setting[] {
  const memory = String(limits.memory_bytes);
  const processes = String(limits.processes);
  const quota = String(Math.max(1000, (limits.cpu_percent * PERIOD_US) / 100));
  if (version === 1) {
    return [
      { controller: 'memory', file: 'memory.limit_in_bytes', value: memory },
      { controller: 'memory', file: 'memory.memsw.limit_in_bytes', value: memory, optional: true },
      // Version 1 counts buffers of TCP apart, and only where they have a limit. Passing it slows a connection down and kills nothing.
      { controller: 'memory', file: 'memory.kmem.tcp.limit_in_bytes', value: memory, optional: true },
      { controller: 'pids', file: 'pids.max', value: processes },
      { controller: 'cpu', file: 'cpu.cfs_period_us', value: String(PERIOD_US) },
      { controller: 'cpu', file: 'cpu.cfs_quota_us', value: quota },
    ];
  }
  return [
    { controller: 'memory', file: 'memory.max', value: memory },
    { controller: 'memory', file: 'memory.swap.max', value: '0', optional: true },
    { controller: 'memory', file: 'memory.oom.group', value: '1', optional: true },
    { controller: 'pids', file: 'pids.max', value: processes },
    { controller: 'cpu', file: 'cpu.max', value: `${quota} ${PERIOD_US}` },
  ];
}

/** What all commands of the host together weigh when processors are short: half of one process of the worker, the API or Redis. */
export const weightOfAll = {
  1: { file: 'cpu.shares', value: '512' },
  2: { file: 'cpu.weight', value: '50' },
} as const;

export interface Usage {
  /** Processes that the kernel killed because the command was out of memory. */
  memory_kills: number;
  /** New processes that the kernel refused. */
  refused_processes: number;
  /** Milliseconds of all processes on all processors. */
  cpu_ms: number;
  /** Periods in which the command had to wait for its share of the processors. */
  throttled_periods: number;
}

interface Counter {
  controller: Controller;
  file: string;
  /** Word before the number; null where the number is the whole file. */
  word: string | null;
  /** What one of it is of `Usage`'s unit. */
  unit: number;
}

export const counters: Record<1 | 2, Record<keyof Usage, Counter>> = {
  1: {
    memory_kills: { controller: 'memory', file: 'memory.oom_control', word: 'oom_kill', unit: 1 },
    refused_processes: { controller: 'pids', file: 'pids.events', word: 'max', unit: 1 },
    cpu_ms: { controller: 'cpuacct', file: 'cpuacct.usage', word: null, unit: 1e-6 },
    throttled_periods: { controller: 'cpu', file: 'cpu.stat', word: 'nr_throttled', unit: 1 },
  },
  2: {
    memory_kills: { controller: 'memory', file: 'memory.events', word: 'oom_kill', unit: 1 },
    refused_processes: { controller: 'pids', file: 'pids.events', word: 'max', unit: 1 },
    cpu_ms: { controller: 'cpuacct', file: 'cpu.stat', word: 'usage_usec', unit: 1e-3 },
    throttled_periods: { controller: 'cpu', file: 'cpu.stat', word: 'nr_throttled', unit: 1 },
  },
};
