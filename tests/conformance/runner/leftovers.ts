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

/** Files are read and written by a tool host, which stays as long as the workspace is open; the first process of its sandbox is its parent. */
const commandsOf = (tree: string): string[] =>
  processesIn(tree)
    .filter((pid) => ![pid, ...descendants(pid)].some(isToolHost))
    .map((pid) => `${pid} ${argumentsOf(pid).replaceAll('\0', ' ').slice(0, 100)}`);

const isToolHost = (pid: number): boolean => argumentsOf(pid).includes('/tool-host/');
