import type { System } from '../../harness/system.ts';
import { until } from '../../harness/until.ts';
import { argumentsOf, descendants, processesIn } from '../../hostile/host/process-table.ts';
import type { FileState } from './file-state.ts';

/**
 * The remaining processes on the host of a run's commands. The ids in the file belong to the sandbox's own namespace, so they only prove the
 * start of the processes.
 * @returns undefined for a file without a process id
 */
export async function leftOf(system: System, runId: string, file: FileState): Promise<string[] | undefined> {
  if (file.type !== 'file' || !/^\s*\d+(\s+\d+)*\s*$/.test(file.content.toString())) return undefined;
  const left = (): string[] => commandsOf(system.tree(runId));
  // The kernel removes a killed process some time after its parent has heard of the end.
  await until('no process is left', () => left().length === 0, { withinMs: 2000 }).catch(() => undefined);
  return left();
}

/**
 * A tool host reads and writes files, and stays as long as the workspace is open; the first process of its sandbox is its parent. A spare,
 * the sandbox prepared for the next command, has two waiting processes.
 */
function commandsOf(tree: string): string[] {
  const left = processesIn(tree).filter((pid) => ![pid, ...descendants(pid)].some(isToolHost));
  const spare = left.find((pid) => isWaiting(pid) && isOnly(descendants(pid), isWaiting));
  const waiting = spare === undefined ? [] : [spare, ...descendants(spare)];
  return left
    .filter((pid) => !waiting.includes(pid))
    .map((pid) => `${pid} ${argumentsOf(pid).replaceAll('\0', ' ').slice(0, 100)}`);
}

const isOnly = (pids: readonly number[], is: (pid: number) => boolean): boolean => pids.length === 1 && pids.every(is);
const isToolHost = (pid: number): boolean => argumentsOf(pid).includes('/tool-host/');
const isWaiting = (pid: number): boolean => argumentsOf(pid).includes('/opt/holdpoint/inside/enter.sh');
