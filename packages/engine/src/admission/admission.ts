import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defaultTenant, type RunSpec } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { RunState } from '../domain/index.ts';

const minute = 60_000;
/** A planned call moves its run back by this much. So a short run passes long runs, for as long as a person would accept. */
const perCallMs = minute;
const mostCalls = 60;
/** A model's run may have any length. */
const guessedCalls = 10;
const byPriority = { high: -30 * minute, normal: 0, low: 30 * minute };
/** Runs already begun go before all others. */
const begunMs = 24 * 60 * minute;

/** How long after its time a run stands in line: the longer its plan, and the lower its priority. Milliseconds. */
function behindOf({ goal, priority }: Pick<RunSpec, 'goal' | 'priority'>): number {
  return perCallMs * Math.min(mostCalls, callsOf(goal)) + byPriority[priority ?? 'normal'];
}

/**
 * The order of runs in line, smallest first. The rank is fixed when a run comes, so time alone moves every run to the front: a run of low
 * priority stands behind the normal runs of the next half hour, and before all later runs.
 */
const rankOf = (createdAt: number, behind: number, hasBegun: boolean): number =>
  createdAt + behind - (hasBegun ? begunMs : 0);

/** A plan of so few calls is over soon. */
const callsOfShort = 3;

/** Whether a run may have a place reserved for short runs. */
const isShort = ({ goal, priority, prepare }: Pick<RunSpec, 'goal' | 'priority' | 'prepare'>): boolean =>
  goal.planner === 'scripted' && priority !== 'low' && prepare === undefined && callsOf(goal) <= callsOfShort;

const callsOf = (goal: RunSpec['goal']): number => {
  if (goal.planner === 'open') return 1;
  return goal.planner === 'model' ? guessedCalls : goal.plan.groups.reduce((sum, { steps }) => sum + steps.length, 0);
};

/** The numbers of runs that a worker may have in progress: runs working on their files, and runs asking a model. */
export interface RunPlaces {
  working: number;
  asking: number;
}

/** Where a run stands, and how full all workers together are. */
export interface Standing {
  /**
   * `free`: the run waits in line although a place is free, so a wake-up was lost. `stale`: the run has a place, and no worker has
   * mentioned the run for some seconds.
   */
  state: 'held' | 'stale' | 'free' | 'line' | 'none';
  working: { used: number; of: number };
  asking: { used: number; of: number };
  /** Runs in line. */
  waiting: number;
  /** Runs of the same tenant and kind ahead in line. */
  ahead: number;
  /** In line: the run waits for a place to work, for a place to ask a model, or for both. */
  awaits: 'working' | 'asking' | 'both' | undefined;
}

interface Granted {
  runId: string;
  turn: number;
}

/** Lets runs begin, and continue, only while fewer than a bound are in progress (`admission.lua`). */
export interface Admission {
  /** Asks for a place before a turn. A run without a place stands in line, and its job is woken with the place. */
  enter(run: RunState, spec: RunSpec): Promise<boolean>;
  /** A run with an answer of its model works now. The run has begun, so the place is not asked for. */
  works(run: RunState): void;
  /** Whether a run may plan its next turn in this process without asking. Also records the run as in progress. */
  mayContinue(run: RunState): boolean;
  /** Gives the place of a run back, or takes the run out of the line. No command for a run unknown to this process, unless forced. */
  leave(runId: string, options?: { force?: boolean }): Promise<void>;
  standing(runId?: string): Promise<Standing>;
  /** Reports this worker and its runs. @returns runs with a place not mentioned by any worker lately */
  review(): Promise<string[]>;
  /** These runs are in progress after all. */
  touch(runIds: readonly string[]): Promise<void>;
  /** The places of this worker are no more. */
  close(): Promise<void>;
}

interface Options {
  redis: Redis;
  workerId: string;
  places: RunPlaces;
  /** Wakes the job of a run after the run got a place. */
  wake(granted: Granted): Promise<void>;
  /** Milliseconds since the epoch. @default the clock of Redis, the same for all workers; inside this process, a monotonic clock */
  now?: () => number;
}

interface Seen {
  kind: 'w' | 'a';
  tenant: string;
  steps: number;
  rank: number;
  /** When this process last did something for the run, milliseconds of a monotonic clock. */
  at: number;
  yields: boolean;
}

/** A review reports the runs this process worked on within this time: about the time between two reviews. */
const freshMs = 1500;

const source = readFileSync(new URL('./admission.lua', import.meta.url), 'utf8');
const sha = createHash('sha1').update(source).digest('hex');
const keys = ['held', 'line', 'lines', 'workers'].map((name) => `hp:{admission}:${name}`);

/** The read-only part of the admission, for any caller. */
export async function readStanding(redis: Redis, runId = ''): Promise<Standing> {
  return standingOf(await call(redis, ['state', '', '', '', '', runId]));
}

export function openAdmission({ redis, workerId, places, wake, now }: Options): Admission {
  const seen = new Map<string, Seen>();
  const clock = now ?? (() => performance.now());
  const ask = (op: string, ...args: (string | number)[]): Promise<unknown[]> =>
    call(redis, [op, now?.() ?? '', workerId, places.working, places.asking, ...args]);
  const wakeAll = async (granted: unknown): Promise<void> => {
    await Promise.all((granted as string[]).map((text) => wake(grantedOf(text))));
  };
  const see = (run: RunState, kind: Seen['kind']): void => {
    const tenant = run.tenant ?? defaultTenant;
    const { yields = false } = seen.get(run.id) ?? {};
    seen.set(run.id, { kind, tenant, steps: run.steps, rank: begunRank(run), at: clock(), yields });
  };
  return {
    async enter(run, spec) {
      const behind = behindOf(spec);
      const isModel = run.header.planner === 'model';
      const isNew = run.status === 'queued';
      const kind = isModel ? (isNew ? 'n' : 'a') : isShort(spec) ? 's' : 'w';
      const rank = rankOf(Date.parse(run.created_at), behind, !isNew);
      const tenant = run.tenant ?? defaultTenant;
      const reply = await ask('enter', run.id, kind, tenant, run.turn + 1, run.steps, rank, behind);
      const [isIn, ...granted] = reply;
      await wakeAll(granted.filter((text) => grantedOf(String(text)).runId !== run.id));
      seen.delete(run.id);
      if (isIn === 1) see(run, isModel ? 'a' : 'w');
      return isIn === 1;
    },
    works(run) {
      see(run, 'w');
      const { tenant, steps, rank } = seen.get(run.id) as Seen;
      // The next review repeats the report.
      ask('review', run.id, 'w', tenant, steps, rank)
        .then(([granted]) => wakeAll(granted))
        .catch(() => undefined);
    },
    mayContinue(run) {
      if (run.parent !== undefined) return true;
      see(run, 'w');
      return seen.get(run.id)?.yields !== true;
    },
    async leave(runId, { force = false } = {}) {
      if (!seen.delete(runId) && !force) return;
      await wakeAll(await ask('leave', runId));
    },
    standing: (runId) => readStanding(redis, runId),
    async review() {
      const fresh = [...seen].filter(([, { at }]) => clock() - at < freshMs);
      const args = fresh.flatMap(([id, { kind, tenant, steps, rank }]) => [id, kind, tenant, steps, rank]);
      const [granted, yields, idle] = (await ask('review', ...args)) as [string[], string[], string[]];
      for (const [id, one] of seen) {
        one.yields = yields.includes(id);
        if (clock() - one.at > forgetMs) seen.delete(id);
      }
      await wakeAll(granted);
      return idle;
    },
    async touch(runIds) {
      if (runIds.length > 0) await ask('touch', ...runIds);
    },
    async close() {
      await ask('close', workerId);
    },
  };
}

/** A process forgets a run after this time without work for the run. */
const forgetMs = 60_000;

const begunRank = (run: RunState): number => rankOf(Date.parse(run.created_at), 0, true);

const grantedOf = (text: string): Granted => {
  const [runId = '', turn] = text.split(' ');
  return { runId, turn: Number(turn) };
};

const awaited = { w: 'working', s: 'working', a: 'asking', n: 'both' } as const;

const standingOf = ([state, working, workingOf, asking, askingOf, waiting, ahead, kind]: unknown[]): Standing => ({
  state: state as Standing['state'],
  working: { used: Number(working), of: Number(workingOf) },
  asking: { used: Number(asking), of: Number(askingOf) },
  waiting: Number(waiting),
  ahead: Number(ahead),
  awaits: awaited[kind as keyof typeof awaited],
});

/** EVALSHA; then EVAL once if a new or restarted server does not know the script. */
async function call(redis: Redis, argv: (string | number)[]): Promise<unknown[]> {
  try {
    return (await redis.evalsha(sha, keys.length, ...keys, ...argv)) as unknown[];
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return (await redis.eval(source, keys.length, ...keys, ...argv)) as unknown[];
  }
}
