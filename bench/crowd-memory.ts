import { readdirSync, readFileSync } from 'node:fs';

/** Gigabytes, at the moment at which all processes together had most. */
interface Peak {
  all: number;
  worker: number;
  processes: number;
}

const everyMs = 1000;

/** Weighs a process and all below it once a second. Memory that processes share is counted once (PSS). Linux only. */
export function openMemoryMeter(pid: number): { stop(): Peak } {
  let peak: Peak = { all: 0, worker: 0, processes: 0 };
  const timer = setInterval(() => {
    const pids = descendants(pid);
    const all = pids.reduce((sum, one) => sum + memoryOf(one), 0);
    if (all > peak.all) peak = { all, worker: memoryOf(pid), processes: pids.length };
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

function descendants(root: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = parentOf(name);
    if (parent !== undefined) parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const found = [root];
  for (const pid of found) found.push(...(parents.get(pid) ?? []));
  return found;
}

/** @returns undefined when it is no process, or has ended */
function parentOf(name: string): number | undefined {
  if (!/^\d+$/.test(name)) return undefined;
  try {
    // The name of a program may have blanks and brackets.
    const after = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /s, '');
    return Number(after.split(' ')[1]);
  } catch {
    return undefined;
  }
}

function memoryOf(pid: number): number {
  try {
    const [, kib = '0'] = /^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return Number(kib) / 1024 ** 2;
  } catch {
    return 0;
  }
}
