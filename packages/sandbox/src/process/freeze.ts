import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay, setImmediate as next } from 'node:timers/promises';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import { SandboxError } from '../errors.ts';

/** Most processes stop within 0.1 ms; the shortest timer takes more than 1 ms. */
const immediateRounds = 10;
/** A process still running after this time hangs in a disk or network call. */
const timeoutMs = 10_000;

/**
 * System calls in which a process waits for its child: vfork, clone and clone3. A waiting parent cannot stop before its child continues,
 * but runs no code either.
 */
const forkCalls: readonly number[] = process.arch === 'arm64' ? [220, 435] : [56, 58, 435];

/**
 * Stops all descendants of these processes, not the processes themselves. Resolves when no descendant runs. Throws `SandboxError`
 * EFREEZEFAILED when a descendant does not stop.
 */
export async function freezeDescendants(roots: readonly ProcessIdentity[]): Promise<void> {
  for (const { pid } of roots)
    if (identify(pid) && read(`/proc/${pid}/task/${pid}/children`) === null) throw cannotListChildren();
  const deadline = performance.now() + timeoutMs;
  let pause = 1;
  for (let round = 0; ; round++) {
    const running = roots.flatMap(({ pid }) => stopRound(pid));
    if (running.length === 0) return;
    if (performance.now() > deadline) throw cannotStop(running);
    if (round < immediateRounds) await next();
    else await delay(pause);
    pause = Math.min(pause * 2, 20);
  }
}

/** Continues all descendants of these processes. */
export function thawDescendants(roots: readonly ProcessIdentity[]): void {
  for (const pid of roots.flatMap((root) => [...descendants(root.pid)])) sendSignal(pid, 'SIGCONT');
}

/** Sends SIGTERM to the present descendants of a process. @returns whether any descendant was alive */
export function terminateDescendants({ pid }: ProcessIdentity): boolean {
  const present = [...descendants(pid)].filter((one) => !'ZX'.includes(stateIn(`/proc/${one}`) ?? 'X'));
  for (const process of present) sendSignal(process, 'SIGTERM');
  return present.length > 0;
}

/**
 * Sends SIGSTOP to all running descendants. Returns their pids.
 *
 * After an empty result no descendant runs. The round lists a process's children only after seeing the process stopped, so the list is
 * complete. Orphans of a dead process have become children of the root by then, so the root must have the same children before and after
 * the round.
 */
function stopRound(root: number): number[] {
  const before = childrenOf(root);
  const running: number[] = [];
  for (const pid of descendants(root)) {
    if (hasStopped(pid)) continue;
    sendSignal(pid, 'SIGSTOP');
    running.push(pid);
  }
  const after = childrenOf(root);
  const isSame = before.length === after.length && before.every((pid, index) => pid === after[index]);
  return running.length > 0 || isSame ? running : [root];
}

/** Parents first. Yields each process before listing its children. */
function* descendants(root: number): Generator<number> {
  for (const pid of childrenOf(root)) {
    yield pid;
    yield* descendants(pid);
  }
}

/** Children of all threads. Empty when the process has ended. */
function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) => {
    const list = read(`/proc/${pid}/task/${thread}/children`);
    return list === null ? [] : list.split(' ').filter(Boolean).map(Number);
  });
}

/** Whether no thread runs. */
function hasStopped(pid: number): boolean {
  const threads = threadsOf(pid);
  return (
    threads.every((thread) => isThreadStopped(`/proc/${pid}/task/${thread}`)) &&
    threadsOf(pid).length === threads.length
  );
}

function isThreadStopped(directory: string): boolean {
  const state = stateIn(directory);
  if (state === null || 'TtZX'.includes(state)) return true;
  return state === 'D' && forkCalls.includes(Number.parseInt(read(`${directory}/syscall`) ?? '', 10));
}

/** The state of a process or thread in /proc. Null when the process or thread has ended. */
function stateIn(directory: string): string | null {
  const stat = read(`${directory}/stat`);
  return stat === null ? null : stat.charAt(stat.lastIndexOf(')') + 2);
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // the process has ended
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // the process has ended
  }
}

export function sendSignal(target: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function cannotStop(running: readonly number[]): SandboxError {
  const left = running.filter((pid) => identify(pid) !== null);
  return new SandboxError('EFREEZEFAILED', `Processes ${left.join(', ')} did not stop after SIGSTOP.`, {
    retryable: true,
    next: 'Check their state with ps (D: they hang in a disk or network call).',
  });
}

function cannotListChildren(): SandboxError {
  return new SandboxError('EFREEZEFAILED', 'The kernel does not list the children of processes.', {
    retryable: false,
    next: 'Use a kernel with CONFIG_PROC_CHILDREN, or run no background commands.',
  });
}
