import { readFileSync } from 'node:fs';
import type { Tree } from '../tree.ts';

/** What a command used, as far as this host can tell. */
export interface MeasuredUse {
  cpu_ms?: number | undefined;
  memory_bytes?: number | undefined;
}

/** Linux has counted processor time in hundredths of a second for programs since 2.6, whatever its own clock. */
const tickMs = 10;
const pageBytes = 4096;
/** One file per process. More than these are not looked at: the worker has other things to do. */
const mostProcesses = 64;

/**
 * Measures a command. A control group counts everything. Elsewhere `sample` looks at the processes: what ends between two looks counts where
 * a process that still runs waited for it, and a command that is over before the first look has no measurement.
 */
export function openCommandUse(tree: Pick<Tree, 'usage' | 'processes'>): { sample(): void; end(): MeasuredUse } {
  const cpu = new Map<number, number>();
  let memory = 0;
  let isCounted: boolean | undefined;
  return {
    sample() {
      isCounted ??= tree.usage() !== null;
      if (isCounted) return;
      let resident = 0;
      for (const pid of tree.processes().slice(0, mostProcesses)) {
        const stat = readStat(pid);
        if (stat === undefined) continue;
        cpu.set(pid, stat.ticks);
        resident += stat.pages;
      }
      memory = Math.max(memory, resident * pageBytes);
    },
    end() {
      const counted = tree.usage();
      if (counted !== null) {
        const { cpu_ms, memory_peak_bytes } = counted;
        return { cpu_ms: Math.round(cpu_ms), memory_bytes: memory_peak_bytes > 0 ? memory_peak_bytes : undefined };
      }
      if (memory === 0) return {};
      // The first process waits for all others: what it counts for its children is in their own counts, too.
      const [first = 0, ...others] = cpu.values();
      const ticks = Math.max(
        first,
        others.reduce((sum, one) => sum + one, 0),
      );
      return { cpu_ms: ticks * tickMs, memory_bytes: memory };
    },
  };
}

/** Time of a process and of the children that it waited for, and its resident pages. Undefined: it is gone. */
function readStat(pid: number): { ticks: number; pages: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may have spaces and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    return { ticks, pages: Number(fields[21]) };
  } catch {
    return undefined;
  }
}
