import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bootId, identify as identifyInBoot } from '@holdpoint/process';
import { CliError } from '../shell/index.ts';

/** Identifies a process, also when its pid is used again later or after a reboot. */
export interface ProcessIdentity {
  pid: number;
  /** The boot id and the start time, only for comparison. */
  began: string;
}

export function identify(pid: number): ProcessIdentity | undefined {
  const found = identifyInBoot(pid);
  return found ? { pid, began: `${bootId()}/${found.start}` } : undefined;
}

export const isAlive = ({ pid, began }: ProcessIdentity): boolean => identify(pid)?.began === began;

const pollMs = 25;
/** A killed process is gone immediately, unless the process is in an uninterruptible system call. */
const killedMs = 5000;

export interface EndOptions {
  /** Time to end after SIGTERM; then the process group is killed. */
  graceMs: number;
  /** Once aborted, the process group is killed at once. */
  hurry?: AbortSignal;
}

/**
 * Ends the leader of a process group and waits until the leader is gone. The process need not be a child of this process.
 *
 * @returns `gone` without such a process, `ended` after SIGTERM, or `killed`
 * @throws CliError `does_not_end`
 */
export async function endProcess(
  identity: ProcessIdentity,
  { graceMs, hurry }: EndOptions,
): Promise<'gone' | 'ended' | 'killed'> {
  if (!isAlive(identity)) return 'gone';
  if (hurry?.aborted !== true) {
    send(identity.pid, 'SIGTERM');
    if (await isGoneWithin(identity, graceMs, hurry)) return 'ended';
  }
  send(-identity.pid, 'SIGKILL');
  if (await isGoneWithin(identity, killedMs)) return 'killed';
  throw new CliError('does_not_end', `Process ${identity.pid} does not end, even after SIGKILL.`);
}

async function isGoneWithin(identity: ProcessIdentity, ms: number, hurry?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (isAlive(identity)) {
    if (hurry?.aborted === true || performance.now() >= deadline) return false;
    await wait(pollMs);
  }
  return true;
}

/** A negative pid is a process group. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Ends the children of a killed `up`. Workers end first, to record their finished work.
 *
 * @returns the number of children
 */
export async function endChildren(
  { children }: { children: readonly (ProcessIdentity & { name: string })[] },
  options: EndOptions,
): Promise<number> {
  const alive = children.filter(isAlive);
  const isWorker = ({ name }: { name: string }) => name.startsWith('worker');
  for (const group of [alive.filter(isWorker), alive.filter((child) => !isWorker(child))]) {
    await Promise.all(group.map((child) => endProcess(child, options)));
  }
  return alive.length;
}

/** The program of a part of the system. The bundle for tests has the bundled parts instead. */
export const partScript = (projectDir: string, app: 'api' | 'worker'): string =>
  join(projectDir, 'apps', app, 'src/main.ts');
