import type { Redis } from 'ioredis';

const poolSize = 60_000;

/**
 * The host user of a run's sandbox. On a root host every run has a uid of its own from a pool, so that process limits count per run and
 * no run can read another's files. On other hosts it is the worker's own user.
 */
export const ownerAllocator = (redis: Redis, uidBase: number) => async (): Promise<{ uid: number; gid: number }> => {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { uid, gid };
  const next = uidBase + ((await redis.incr('hp:uids')) % poolSize);
  return { uid: next, gid: next };
};
