import type { System } from '../../harness/system.ts';
import { until } from '../../harness/until.ts';
import { argumentsOf, descendants, processesIn } from '../../hostile/host/process-table.ts';
import type { FileState } from './file-state.ts';

/**
 * What is left on the host of the commands of a run. The ids in the file belong to the sandbox's own namespace, so they only say that
 * the processes did run.
 * @returns undefined: the file holds no process id
 */
export async function leftOf(system: System, runId: string, file: FileState): Promise<string[] | undefined> {
  if (file.type !== 'file' || !/^\s*\d+(\s+\d+)*\s*$/.test(file.content.toString())) return undefined;
  const left = (): string[] => commandsOf(system.tree(runId));
  // The kernel removes a killed process some time after its parent has heard of the end.
  await until('no process is left', () => left().length === 0, { withinMs: 2000 }).catch(() => undefined);
  return left();
}

/**
 * Files are read and written by a tool host, which stays as long as the workspace is open; the first process of its sandbox is its parent.
 * A spare, the sandbox that is prepared for the next command, has two processes that wait for it.
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
