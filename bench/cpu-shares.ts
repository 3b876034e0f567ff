import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** CPU shares of processes over a time, in units of a single core. Linux only. */
export async function cpuShares<Name extends string>(
  pids: Readonly<Record<Name, number>>,
  ms: number,
): Promise<Record<Name, number>> {
  const at = () => Object.entries<number>(pids).map(([name, pid]) => [name, cpuSeconds(pid)] as const);
  const [from, before] = [performance.now(), new Map(at())];
  await pause(ms);
  const seconds = (performance.now() - from) / 1000;
  const shares = at().map(([name, used]) => [name, (used - (before.get(name) ?? 0)) / seconds]);
  return Object.fromEntries(shares) as Record<Name, number>;
}

/** User and system time of a process with its threads; a tick is 10 ms. */
function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
