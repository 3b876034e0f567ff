import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../harness/until.ts';

/** Stops a process and all its descendants. @returns their ids, the ancestor first */
export function freeze(ancestor: number): number[] {
  const frozen = new Set<number>();
  for (;;) {
    const running = descendants(ancestor).filter((pid) => !frozen.has(pid));
    if (running.length === 0) return [...frozen];
    for (const pid of running) {
      send(pid, 'SIGSTOP');
      frozen.add(pid);
    }
  }
}

/** Kills frozen processes; resolves when all are gone. */
export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) send(pid, 'SIGKILL');
  await until('the processes are gone', () => pids.every((pid) => hasEnded(pid)));
}

function descendants(ancestor: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [ancestor];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

const statOf = (pid: number): string[] | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
};
const parentOf = (pid: number): number | undefined => {
  const parent = statOf(pid)?.[1];
  return parent === undefined ? undefined : Number(parent);
};
const hasEnded = (pid: number): boolean => {
  const [state] = statOf(pid) ?? [];
  return state === undefined || state === 'Z' || state === 'X';
};

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
