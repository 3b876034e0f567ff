import { readFileSync } from 'node:fs';
import type { Tree } from '../tree.ts';

/** CPU time and peak memory of a command, as far as this host can measure them. */
export interface MeasuredUse {
  cpu_ms?: number | undefined;
  memory_bytes?: number | undefined;
}

/** Since 2.6, Linux reports processor time to programs in hundredths of a second, for every clock rate of the kernel. */
const tickMs = 10;
const pageBytes = 4096;
/** A sample reads one file per process, and at most this many, to spare the worker's time. */
const mostProcesses = 64;

/**
 * Measures a command. A control group counts all processes. Without a control group `sample` reads the running processes. A process ended
 * between two samples counts if its parent still runs and waited for the process. A command ended before the first sample has no
 * measurement.
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
      // The first process waits for all others, so its count of its children's time repeats their own counts.
      const [first = 0, ...others] = cpu.values();
      const ticks = Math.max(
        first,
        others.reduce((sum, one) => sum + one, 0),
      );
      return { cpu_ms: ticks * tickMs, memory_bytes: memory };
    },
  };
}

/** CPU time of a process and of its waited-for children, and the process's resident pages. Undefined when the process is gone. */
function readStat(pid: number): { ticks: number; pages: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name may contain spaces and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    return { ticks, pages: Number(fields[21]) };
  } catch {
    return undefined;
  }
}
