import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as contract from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { type Damaged, readEntry, splitDamaged } from '../log/index.ts';

const time = z.iso.datetime({ offset: true });
const timesSchema = z.object(contract.scheduleTimesShape);
export type Times = z.output<typeof timesSchema>;

const dueSchema = z.object({
  at: time,
  kind: contract.occurrenceSchema.shape.kind,
  /** Begins whatever runs. */
  beside: z.literal(true).optional(),
});
/** An occurrence that is to have a run. */
export type Due = z.output<typeof dueSchema>;

/** A schedule as stored. Not strict: a later version may store more. */
const scheduleStateSchema = z.object({
  name: z.string(),
  tenant: z.string(),
  version: z.int(),
  times: timesSchema,
  note: z.string().optional(),
  /** The request of each run, checked. */
  run: z.record(z.string(), z.unknown()),
  created_at: time,
  created_by: z.string(),
  changed_at: time,
  /** The key that submits the runs. */
  key_id: z.string(),
  runs_as: z.string(),
  /** Intervals without `start_at` count from here, and no occurrence is before. */
  anchor: time,
  paused: contract.schedulePauseSchema.optional(),
  /** The next occurrence. */
  next: time.optional(),
  waiting: z.array(dueSchema),
  /** The occurrence whose run is being submitted, under an id that was chosen before. */
  submitting: dueSchema.extend({ run_id: z.string(), since: time }).optional(),
  /** Runs without a known end. */
  running: z.array(z.object({ run_id: z.string(), scheduled_for: time, since: time })),
  failures: z.int(),
  last: contract.occurrenceSchema.optional(),
});
export type ScheduleState = z.output<typeof scheduleStateSchema>;

/** Names a schedule of an installation. Neither part has a slash. */
export const idOf = ({ tenant, name }: Pick<ScheduleState, 'tenant' | 'name'>): string => `${tenant}/${name}`;

const swapScript = readFileSync(new URL('./swap.lua', import.meta.url), 'utf8');

const mostSchedules = 10_000;
const longestHistory = 200;

/** The keys share a hash tag, because a script uses them together. */
const prefix = 'hp:{schedules}:';
const scheduleKey = (id: string): string => `${prefix}schedule:${id}`;
const historyKey = (id: string): string => `${prefix}history:${id}`;
const namesKey = (tenant: contract.Tenant): string => `${prefix}names:${tenant}`;
/** A sorted set: the ids of schedules by the time of their next look, in milliseconds. */
const dueKey = `${prefix}due`;

interface Named {
  tenant: contract.Tenant;
  name: string;
}

/** A schedule, with the mark of this very state. */
export interface StoredSchedule {
  revision: string;
  state: ScheduleState;
}

export interface NewState {
  /** The mark of the state that this one replaces; undefined: there is none. */
  after: string | undefined;
  state: ScheduleState;
  wakeAt: number | undefined;
  recorded?: readonly contract.Occurrence[];
}

export type ScheduleStore = ReturnType<typeof openScheduleStore>;

/** The schedules in Redis. Two writers never both replace the same state. */
export function openScheduleStore(redis: Redis) {
  const swap = async (named: Named, given: (string | number)[]): Promise<'stored' | 'changed' | 'full'> => {
    const keys = [scheduleKey(idOf(named)), historyKey(idOf(named)), namesKey(named.tenant), dueKey];
    return (await redis.eval(swapScript, keys.length, ...keys, ...given)) as 'stored' | 'changed' | 'full';
  };
  const find = async (named: Named): Promise<StoredSchedule | undefined> => {
    const [revision, text] = await redis.hmget(scheduleKey(idOf(named)), 'revision', 'state');
    if (revision == null || text == null) return undefined;
    return { revision, state: scheduleStateSchema.parse(JSON.parse(text)) };
  };
  return {
    find,
    /** By name. */
    async list(tenant: contract.Tenant): Promise<{ items: StoredSchedule[]; damaged: Damaged[] }> {
      const names = await redis.zrange(namesKey(tenant), '0', '-1');
      const found = await Promise.all(names.map((name) => readEntry(name, () => find({ tenant, name }))));
      return splitDamaged(found.filter((one) => one !== undefined));
    },
    names: (tenant: contract.Tenant): Promise<string[]> => redis.zrange(namesKey(tenant), '0', '-1'),
    /** `full`: the tenant has as many schedules as a tenant may have. */
    put: ({ after = '', state, wakeAt, recorded = [] }: NewState) =>
      swap(state, [
        ...[after, randomUUID(), JSON.stringify(state), state.name, idOf(state), wakeAt ?? ''],
        ...[mostSchedules, longestHistory, ...recorded.map((one) => JSON.stringify(one))],
      ]),
    remove: (named: Named, after: string) =>
      swap(named, [after, '', '', named.name, idOf(named), '', mostSchedules, longestHistory]),
    /** What became of the last occurrences, the newest first. */
    async history(named: Named, limit: number): Promise<contract.Occurrence[]> {
      const texts = await redis.lrange(historyKey(idOf(named)), 0, limit - 1);
      return texts.map((text) => contract.occurrenceSchema.parse(JSON.parse(text)));
    },
    /** Schedules whose time has come, the most overdue first. */
    async due(now: number, limit: number): Promise<Named[]> {
      const ids = await redis.zrangebyscore(dueKey, '-inf', now, 'LIMIT', 0, limit);
      return ids.map((id) => ({ tenant: id.slice(0, id.indexOf('/')), name: id.slice(id.indexOf('/') + 1) }));
    },
  };
}
