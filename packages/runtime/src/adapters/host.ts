import type { ProcessLimits } from '@holdpoint/contract';
import type { Ceilings } from '@holdpoint/engine';
import { resolveLimits } from '@holdpoint/sandbox';
import type { Redis } from 'ioredis';

/** Limits for commands of a run without limits: the sandbox's own limits, and no more than the operator allows. */
export function hostLimits({ command = {} }: Pick<Ceilings, 'command'>): Partial<ProcessLimits> {
  const own = resolveLimits();
  const names = Object.keys(command) as (keyof typeof command)[];
  return Object.fromEntries(names.map((name) => [name, Math.min(own[name], command[name] ?? own[name])]));
}

const poolSize = 60_000;

/**
 * The host user of a run's sandbox. On a root host every run has a uid of its own from a pool, so that process limits count per run and
 * no run can read another's files. On other hosts the user is the worker's own.
 */
export const ownerAllocator = (redis: Redis, uidBase: number) => async (): Promise<{ uid: number; gid: number }> => {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { uid, gid };
  const next = uidBase + ((await redis.incr('hp:uids')) % poolSize);
  return { uid: next, gid: next };
};
