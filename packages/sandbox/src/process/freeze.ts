import { readFileSync } from 'node:fs';
import { isAlive, type ProcessIdentity } from './identity.ts';
import { processesOfNamespace } from './namespace.ts';
import type { ProcessRecords } from './records.ts';

/** A process that forks is caught at the latest when it has been stopped itself; one that still forks after so many rounds wins. */
const MOST_ROUNDS = 50;

/** Stops the labelled commands of workspaces for a moment, so that what they write to stands still. */
export class Freezer {
  readonly #records: ProcessRecords;
  /** How many acts of this process want a workspace's commands to stand still. */
  readonly #holds = new Map<string, number>();

  constructor(records: ProcessRecords) {
    this.#records = records;
  }

  async frozen<Result>(workspaceId: string, act: () => Promise<Result>): Promise<Result> {
    const trees = this.#records.labelled(workspaceId);
    if (trees.length === 0) return act();
    this.#holds.set(workspaceId, (this.#holds.get(workspaceId) ?? 0) + 1);
    try {
      for (const tree of trees) stop(tree);
      return await act();
    } finally {
      const left = (this.#holds.get(workspaceId) ?? 1) - 1;
      if (left > 0) this.#holds.set(workspaceId, left);
      else {
        this.#holds.delete(workspaceId);
        for (const tree of this.#records.labelled(workspaceId)) proceed(tree);
      }
    }
  }
}

function stop(tree: readonly ProcessIdentity[]): void {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const running = insideOf(tree).filter(isRunning);
    if (running.length === 0) return;
    for (const pid of running) send(pid, 'SIGSTOP');
  }
}

function proceed(tree: readonly ProcessIdentity[]): void {
  for (const pid of insideOf(tree)) send(pid, 'SIGCONT');
}

/** The last process of a record is the first one inside; what was recorded without it has not begun yet. */
function insideOf(tree: readonly ProcessIdentity[]): number[] {
  const first = tree.length > 1 ? tree.at(-1) : undefined;
  return first && isAlive(first) ? processesOfNamespace(first) : [];
}

/** Neither stopped nor on its way out. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !'TtZX'.includes(stat.slice(stat.lastIndexOf(')') + 2).charAt(0));
  } catch {
    return false; // it has ended
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
