import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { hookedAgain, hookedLook } from './pace.ts';
import { type PullState, pullStateSchema } from './state.ts';

/**
 * Replaces the state of a pull request, if it is still the one that was read.
 * KEYS: the pull request, the items that were decided about, the times at which pull requests are due, the pull requests of the repository.
 * ARGV: the revision that was read ('': there is none), the new revision, the new state ('': it is removed), the id of the run, when it is
 * due, the number of hooks that was read, when a hook that came since is due, '1': the pull request is open, items that are decided about now.
 * Returns 1: stored, 0: another process has changed it.
 */
const swapScript = `local revision = redis.call('HGET', KEYS[1], 'revision') or ''
if revision ~= ARGV[1] then return 0 end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('ZREM', KEYS[3], ARGV[4])
  redis.call('SREM', KEYS[4], ARGV[4])
  return 1
end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'state', ARGV[3])
local due = tonumber(ARGV[5])
-- A hook that came during the look is looked at.
if (redis.call('HGET', KEYS[1], 'hooks') or '0') ~= ARGV[6] then due = math.min(due, tonumber(ARGV[7])) end
redis.call('ZADD', KEYS[3], due, ARGV[4])
-- What is over takes no hook, so that hooks of a repository never go through all that it ever had.
if ARGV[8] == '1' then redis.call('SADD', KEYS[4], ARGV[4]) else redis.call('SREM', KEYS[4], ARGV[4]) end
for at = 9, #ARGV do redis.call('SADD', KEYS[2], ARGV[at]) end
return 1`;

/** The keys share a hash tag, because a script uses them together. */
const prefix = 'hp:{pulls}:';
const pullKey = (runId: string): string => `${prefix}pull:${runId}`;
/** A set: the items that were decided about. The code host bounds the number of comments of a pull request. */
const decidedKey = (runId: string): string => `${prefix}decided:${runId}`;
/** A sorted set: the ids of runs by the time of the next look at their pull requests, in milliseconds. */
const dueKey = `${prefix}due`;
/** A set: the runs with an open pull request in this repository. Code hosts do not tell upper from lower case. */
const repositoryKey = (repository: string): string => `${prefix}of:${repository.toLowerCase()}`;

export const pullLockKey = (runId: string): string => `${prefix}lock:${runId}`;

/** A pull request, with the mark of this very state. */
export interface StoredPull {
  revision: string;
  state: PullState;
  /** How often a webhook has asked for a look. */
  hooks: string;
  /** When a webhook last did, in milliseconds. */
  hookedAt: number | undefined;
}

export interface NewPull {
  /** What this state replaces; undefined: there is none. */
  after: Pick<StoredPull, 'revision' | 'hooks'> | undefined;
  state: PullState;
  wakeAt: number;
  /** Items that are decided about now. */
  decided?: readonly string[];
}

/** A hook is noted, and the pull request is due, unless it was due before. */
const hastenScript = `if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[3] == 'hook' then
  redis.call('HINCRBY', KEYS[1], 'hooks', 1)
  redis.call('HSET', KEYS[1], 'hooked_at', ARGV[2])
end
redis.call('ZADD', KEYS[2], 'LT', ARGV[4], ARGV[1])
return 1`;

export type PullStore = ReturnType<typeof openPullStore>;

/** The pull requests of runs in Redis, one for each run. Two writers never both replace the same state. */
export function openPullStore(redis: Redis) {
  const keysOf = ({ run_id, target }: PullState): string[] => [
    ...[pullKey(run_id), decidedKey(run_id), dueKey, repositoryKey(target.repository)],
  ];
  const swap = async (state: PullState, given: (string | number)[]): Promise<boolean> =>
    (await redis.eval(swapScript, 4, ...keysOf(state), ...given)) === 1;
  return {
    async find(runId: string): Promise<StoredPull | undefined> {
      const fields = await redis.hmget(pullKey(runId), 'revision', 'state', 'hooks', 'hooked_at');
      const [revision, text, hooks, hookedAt] = fields;
      if (revision == null || text == null) return undefined;
      const state = pullStateSchema.parse(JSON.parse(text));
      return { revision, state, hooks: hooks ?? '0', hookedAt: hookedAt == null ? undefined : Number(hookedAt) };
    },
    /** @returns whether it is stored: no other process has changed the state */
    put: ({ after, state, wakeAt, decided = [] }: NewPull, now: number): Promise<boolean> =>
      swap(state, [
        ...[after?.revision ?? '', randomUUID(), JSON.stringify(state), state.run_id],
        ...[wakeAt, after?.hooks ?? '0', hookedAgain(state, now), state.status === 'open' ? '1' : '', ...decided],
      ]),
    remove: ({ revision, state }: Pick<StoredPull, 'revision' | 'state'>): Promise<boolean> =>
      swap(state, [revision, '', '', state.run_id, 0, '0', 0, '']),
    /** Which of these items were decided about. */
    async decided(runId: string, items: readonly string[]): Promise<Set<string>> {
      if (items.length === 0) return new Set();
      const are = await redis.smismember(decidedKey(runId), ...items);
      return new Set(items.filter((_, at) => are[at] === 1));
    },
    /**
     * @param why `hook`: a webhook of the code host reaches this installation
     * @returns when the pull request is due, in milliseconds; undefined: the run has none
     */
    async hasten(runId: string, now: number, why: 'hook' | 'asked'): Promise<number | undefined> {
      const text = await redis.hget(pullKey(runId), 'state');
      if (text === null) return undefined;
      const at = why === 'hook' ? hookedLook(pullStateSchema.parse(JSON.parse(text)), now) : now;
      const isThere = await redis.eval(hastenScript, 2, pullKey(runId), dueKey, runId, now, why, at);
      return isThere === 1 ? at : undefined;
    },
    ofRepository: (repository: string): Promise<string[]> => redis.smembers(repositoryKey(repository)),
    /** Runs whose pull requests are due, the most overdue first. */
    due: (now: number, limit: number): Promise<string[]> => redis.zrangebyscore(dueKey, '-inf', now, 'LIMIT', 0, limit),
    async dueAt(runId: string): Promise<number | undefined> {
      const score = await redis.zscore(dueKey, runId);
      return score === null ? undefined : Number(score);
    },
  };
}
