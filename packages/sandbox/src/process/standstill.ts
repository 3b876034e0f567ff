import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay, setImmediate as next } from 'node:timers/promises';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import { SandboxError } from '../errors.ts';

/** Most processes stop within 0.1 ms; the shortest timer takes more than 1 ms. */
const IMMEDIATE_ROUNDS = 10;
/** One that cannot be stopped by then hangs in a disk or network call. */
const PATIENCE_MS = 10_000;

/**
 * System calls in which a process waits for its child: vfork, clone and clone3. A parent that waits so does not stop before its child goes
 * on, and does nothing else.
 */
const forking: readonly number[] = process.arch === 'arm64' ? [220, 435] : [56, 58, 435];

/**
 * Stops everything below these processes, not themselves, and resolves when nothing of it runs. Throws `SandboxError` EFREEZEFAILED when
 * it cannot be stopped.
 */
export async function stopBelow(roots: readonly ProcessIdentity[]): Promise<void> {
  for (const { pid } of roots)
    if (identify(pid) && read(`/proc/${pid}/task/${pid}/children`) === null) throw cannotLook();
  const deadline = performance.now() + PATIENCE_MS;
  let pause = 1;
  for (let round = 0; ; round++) {
    const running = roots.flatMap(({ pid }) => stopRound(pid));
    if (running.length === 0) return;
    if (performance.now() > deadline) throw cannotStop(running);
    if (round < IMMEDIATE_ROUNDS) await next();
    else await delay(pause);
    pause = Math.min(pause * 2, 20);
  }
}

/** Wakes everything below these processes. */
export function wakeBelow(roots: readonly ProcessIdentity[]): void {
  for (const pid of roots.flatMap((root) => [...below(root.pid)])) send(pid, 'SIGCONT');
}

/** Asks everything below a process to end, as far as it exists now. */
export function terminateBelow({ pid }: ProcessIdentity): void {
  for (const process of [...below(pid)]) send(process, 'SIGTERM');
}

/**
 * Sends SIGSTOP to whatever runs below a process, and returns it.
 *
 * That nothing was found means that nothing runs. A process is first seen stopped and then asked for its children, so it has no others.
 * What another one left behind when it died is a child of the root by then: so the root's children must be the same before and after.
 */
function stopRound(root: number): number[] {
  const before = childrenOf(root);
  const running: number[] = [];
  for (const pid of below(root)) {
    if (isStill(pid)) continue;
    send(pid, 'SIGSTOP');
    running.push(pid);
  }
  const after = childrenOf(root);
  const isSame = before.length === after.length && before.every((pid, index) => pid === after[index]);
  return running.length > 0 || isSame ? running : [root];
}

/** Each process before it is asked for its children, parents first. */
function* below(root: number): Generator<number> {
  for (const pid of childrenOf(root)) {
    yield pid;
    yield* below(pid);
  }
}

/** Of all its threads. Empty when it has ended. */
function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) => {
    const list = read(`/proc/${pid}/task/${thread}/children`);
    return list === null ? [] : list.split(' ').filter(Boolean).map(Number);
  });
}

/** Whether no thread of it runs. */
function isStill(pid: number): boolean {
  const threads = threadsOf(pid);
  return (
    threads.every((thread) => isThreadStill(`/proc/${pid}/task/${thread}`)) && threadsOf(pid).length === threads.length
  );
}

function isThreadStill(directory: string): boolean {
  const stat = read(`${directory}/stat`);
  if (stat === null) return true; // it has ended
  const state = stat.charAt(stat.lastIndexOf(')') + 2);
  if ('TtZX'.includes(state)) return true;
  return state === 'D' && forking.includes(Number.parseInt(read(`${directory}/syscall`) ?? '', 10));
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // it has ended
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // it has ended
  }
}

export function send(target: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void {
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
    next: 'Look at their state with ps (D means that they hang in a disk or network call).',
  });
}

function cannotLook(): SandboxError {
  return new SandboxError('EFREEZEFAILED', 'The kernel does not list the children of processes.', {
    retryable: false,
    next: 'Use a kernel that was built with CONFIG_PROC_CHILDREN, or do without background commands.',
  });
}
