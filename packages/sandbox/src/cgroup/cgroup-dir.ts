import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProcessLimits } from '@holdpoint/contract';
import type { Controller, Hierarchy } from './locate.ts';

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
const weightOfAll = {
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

/** The parents of the groups in one hierarchy. */
export interface CgroupDir {
  version: 1 | 2;
  controllers: Controller[];
  /** The parent of the groups of commands. */
  directory: string;
  /** The parent of the groups of tool hosts and parsers. Without the cpu controller: the parent of commands. */
  own: string;
}

/** All workers of a host share these directories. */
const directoryName = 'holdpoint';
const ownDirectoryName = 'holdpoint-own';
const wanted = ['memory', 'pids', 'cpu'] as const;

/**
 * Creates the parent group in each hierarchy, if the hierarchy allows new groups. The parent never lies above a limited group of the
 * worker: the operator's limit for the worker also applies to its commands.
 */
export function makeCgroupDirs(hierarchies: readonly Hierarchy[]): CgroupDir[] {
  return hierarchies.flatMap((hierarchy) => {
    const candidates = upToLimit(hierarchy);
    // Version 1: the highest group, so all workers of the host share the parent. Version 2: the nearest delegated group.
    const parents = hierarchy.version === 1 ? candidates.toReversed() : candidates;
    for (const parent of parents) {
      const made = hierarchy.version === 1 ? makeInV1(parent, hierarchy.controllers) : makeInV2(parent);
      if (made) return [made];
    }
    return [];
  });
}

function upToLimit({ own, top }: Hierarchy): string[] {
  const candidates: string[] = [];
  for (let directory = own; ; directory = dirname(directory)) {
    candidates.push(directory);
    if (directory === top || !directory.startsWith(top) || isLimited(directory)) return candidates;
  }
}

function isLimited(directory: string): boolean {
  const value = (file: string) => read(join(directory, file));
  const memory = value('memory.limit_in_bytes');
  return (
    (memory !== null && Number(memory) < 2 ** 62) ||
    ![null, '-1'].includes(value('cpu.cfs_quota_us')) ||
    ['memory.max', 'pids.max'].some((file) => ![null, 'max'].includes(value(file))) ||
    value('cpu.max')?.startsWith('max') === false
  );
}

function makeInV1(parent: string, controllers: Controller[]): CgroupDir | null {
  const directory = make(parent, directoryName);
  if (directory === null) return null;
  if (!controllers.includes('cpu')) return { version: 1, controllers, directory, own: directory };
  setWeight(1, directory);
  return { version: 1, controllers, directory, own: make(parent, ownDirectoryName) ?? directory };
}

/** Version 2 passes controllers only to the children of a group without processes. The host's root group is an exception. */
function makeInV2(parent: string): CgroupDir | null {
  const offered = words(read(join(parent, 'cgroup.controllers')));
  const controllers = wanted.filter((name) => offered.includes(name));
  if (controllers.length === 0) return null;
  const enable = (directory: string) => {
    const file = join(directory, 'cgroup.subtree_control');
    const missing = controllers.filter((name) => !words(read(file)).includes(name));
    if (missing.length > 0) writeFileSync(file, missing.map((name) => `+${name}`).join(' '));
  };
  try {
    accessSync(parent, constants.W_OK);
    enable(parent);
    const directory = make(parent, directoryName);
    if (directory === null) return null;
    enable(directory);
    const all: Controller[] = [...controllers, 'cpuacct'];
    if (!controllers.includes('cpu')) return { version: 2, controllers: all, directory, own: directory };
    setWeight(2, directory);
    const own = make(parent, ownDirectoryName) ?? directory;
    enable(own);
    return { version: 2, controllers: all, directory, own };
  } catch {
    return null; // EBUSY: the group has processes. EACCES or EROFS: the group belongs to another user.
  }
}

function setWeight(version: 1 | 2, directory: string): void {
  const { file, value } = weightOfAll[version];
  try {
    writeFileSync(join(directory, file), value, { flag: 'r+' });
  } catch {
    // The group belongs to another user, and the other user's worker has set the weight. Or the kernel has no file for the weight.
  }
}

function make(parent: string, name: string): string | null {
  const directory = join(parent, name);
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return directory;
  } catch {
    return null;
  }
}

function words(text: string | null): string[] {
  return (text ?? '').split(' ');
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return null;
  }
}
