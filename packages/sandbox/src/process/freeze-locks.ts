import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as next } from 'node:timers/promises';
import { identify, isAlive, type ProcessIdentity } from '@holdpoint/process';
import { SandboxError } from '../errors.ts';
import { childrenOf, killGroup, killProcesses } from '../kill.ts';
import type { Driver } from '../tree.ts';
import type { ProcessRecords } from './records.ts';
import { listNames, removeEmpty, removeFile, renameIfThere, workspaceDirectory, writeInto } from './state-files.ts';

/** The lock of an action on a workspace with frozen labelled commands. */
export interface FreezeLock {
  directory: string;
  /** Name of the lock's file, without the suffix. */
  name: string;
}

/**
 * Locks to keep labelled commands frozen, as files visible to every worker of the host: `<pid>-<start>-<uuid>.lock`. The owner renames the
 * file to `.thawing` while thawing the commands. Locks of dead workers have no effect.
 */
export class FreezeLocks {
  readonly #stateDir: string;
  readonly #owner: string;

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#owner = `${process.pid}-${identify(process.pid)?.start ?? 0}`;
  }

  /** From now on no labelled command of the workspace begins. */
  acquire(workspaceId: string): FreezeLock {
    const lock = {
      directory: workspaceDirectory(this.#stateDir, workspaceId),
      name: `${this.#owner}-${randomUUID()}`,
    };
    writeInto(join(lock.directory, `${lock.name}.lock`), '');
    return lock;
  }

  isLocked(workspaceId: string): boolean {
    return this.#has(workspaceDirectory(this.#stateDir, workspaceId), 'lock');
  }

  /** Whether a worker died with a lock. The commands frozen by the dead worker stay frozen until another worker thaws them. */
  hasAbandoned(workspaceId: string): boolean {
    return this.abandoned(workspaceId).length > 0;
  }

  /** Lock files of dead workers. The files stay until the commands are thawed, because only these files mark the commands as frozen. */
  abandoned(workspaceId: string): string[] {
    const directory = workspaceDirectory(this.#stateDir, workspaceId);
    return lockFiles(directory)
      .filter((name) => !this.#isHeld(name))
      .map((name) => join(directory, name));
  }

  /** Whether a worker thaws the commands now. The thawing worker may have missed a lock newer than its check. */
  isThawing(lock: FreezeLock): boolean {
    return this.#has(lock.directory, 'thawing');
  }

  /** Gives up the lock. True for the last lock: the owner must thaw the commands and then call `release`. */
  beginThaw(lock: FreezeLock): boolean {
    const path = join(lock.directory, lock.name);
    // A new owner calling `isThawing` after this rename waits until the thaw has ended. A lock missing from the check below is newer, so
    // its owner calls `isThawing` later. The lock file is gone when `revokeAll` removed it while this worker was stopped. The commands
    // frozen by this worker since must still be thawed.
    if (!renameIfThere(`${path}.lock`, `${path}.thawing`)) writeInto(`${path}.thawing`, '');
    if (!this.#has(lock.directory, 'lock')) return true;
    this.release(lock);
    return false;
  }

  /** Removes all locks of a workspace without processes. Otherwise the lock of a stopped worker would delay the next command. */
  revokeAll(workspaceId: string): void {
    const directory = workspaceDirectory(this.#stateDir, workspaceId);
    for (const name of lockFiles(directory)) removeFile(join(directory, name));
    removeEmpty(directory);
  }

  /** @param thawed result of `abandoned` from before the thaw */
  release(lock: FreezeLock, thawed: readonly string[] = []): void {
    for (const path of thawed) removeFile(path);
    removeFile(join(lock.directory, `${lock.name}.thawing`));
    removeEmpty(lock.directory);
  }

  #has(directory: string, stage: 'lock' | 'thawing'): boolean {
    return listNames(directory).some((name) => name.endsWith(`.${stage}`) && this.#isHeld(name));
  }

  /** Whether the owner lives. */
  #isHeld(name: string): boolean {
    return name.startsWith(`${this.#owner}-`) || isAlive(ownerOf(name));
  }
}

const lockFiles = (directory: string): string[] =>
  listNames(directory).filter((name) => name.endsWith('.lock') || name.endsWith('.thawing'));

function ownerOf(name: string): ProcessIdentity {
  const [pid = 0, start = 0] = name.split('-').map(Number);
  return { pid, start };
}

/** Most processes are gone within 0.1 ms; the shortest timer takes more than 1 ms. */
const immediateLooks = 10;
/** A killed process still alive after this time hangs in a disk or network call. */
const timeoutMs = 10_000;

/**
 * Resolves when none of the processes runs. The kernel reports only the end of the worker's own children, so `untilGone` polls: a few times
 * at once, then after 1, 2, 4 … 50 ms. Throws `SandboxError` EKILLFAILED after 10 s.
 */
export async function untilGone(processes: readonly ProcessIdentity[]): Promise<void> {
  let left = processes.filter(isAlive);
  for (let looks = 0; left.length > 0 && looks < immediateLooks; looks++) {
    await next();
    left = left.filter(isAlive);
  }
  let waited = 0;
  for (let pause = 1; left.length > 0; pause = Math.min(pause * 2, 50)) {
    if (waited > timeoutMs) {
      throw new SandboxError(
        'EKILLFAILED',
        `Processes ${left.map((p) => p.pid).join(', ')} did not end after SIGKILL.`,
        {
          retryable: true,
          next: 'Check their state with ps (D: they hang in a disk or network call).',
        },
      );
    }
    await delay(pause);
    waited += pause;
    left = left.filter(isAlive);
  }
}

/**
 * Kills all recorded trees of the workspace, from every worker of this host, and waits until all processes have ended.
 * @param label only trees with this label
 */
export async function killAll(
  deps: { records: ProcessRecords; freezeLocks: FreezeLocks; driver: Driver },
  workspaceId: string,
  label?: string,
): Promise<void> {
  const claimed = deps.records.claim(workspaceId, label);
  // A tree without a recorded second process is still in its set-up, so the kernel is asked for its children.
  const trees = claimed.map((tree) =>
    tree.length > 1 ? tree : [...tree, ...tree.flatMap(({ pid }) => childrenOf(pid))],
  );
  for (const tree of trees) {
    // In reverse order: the end of the namespace's first process ends all others, and the parent is still alive to reap the first process.
    killProcesses(tree.toReversed());
    const [leader] = tree;
    if (leader && isAlive(leader)) killGroup(leader.pid);
  }
  if (label === undefined) deps.freezeLocks.revokeAll(workspaceId);
  await untilGone(trees.flat());
  // A bubblewrap killed during its set-up may leave its first process behind.
  const orphans = deps.driver.findOrphans();
  killProcesses(orphans);
  await untilGone(orphans);
  for (const [first] of trees) if (first) deps.records.remove(workspaceId, first);
}
