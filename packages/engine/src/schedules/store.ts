import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Occurrence, occurrenceSchema, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { type Damaged, readEntry, splitDamaged } from '../log/index.ts';
import { idOf, type ScheduleState, scheduleStateSchema } from './state.ts';

const swapScript = readFileSync(new URL('./swap.lua', import.meta.url), 'utf8');

const mostSchedules = 10_000;
const longestHistory = 200;

/** The keys share a hash tag, because a script uses them together. */
const prefix = 'hp:{schedules}:';
const scheduleKey = (id: string): string => `${prefix}schedule:${id}`;
const historyKey = (id: string): string => `${prefix}history:${id}`;
const namesKey = (tenant: Tenant): string => `${prefix}names:${tenant}`;
/** A sorted set: the ids of schedules by the time of their next look, in milliseconds. */
const dueKey = `${prefix}due`;

interface Named {
  tenant: Tenant;
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
  recorded?: readonly Occurrence[];
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
    async list(tenant: Tenant): Promise<{ items: StoredSchedule[]; damaged: Damaged[] }> {
      const names = await redis.zrange(namesKey(tenant), '0', '-1');
      const found = await Promise.all(names.map((name) => readEntry(name, () => find({ tenant, name }))));
      return splitDamaged(found.filter((one) => one !== undefined));
    },
    names: (tenant: Tenant): Promise<string[]> => redis.zrange(namesKey(tenant), '0', '-1'),
    /** `full`: the tenant has as many schedules as a tenant may have. */
    put: ({ after = '', state, wakeAt, recorded = [] }: NewState) =>
      swap(state, [
        ...[after, randomUUID(), JSON.stringify(state), state.name, idOf(state), wakeAt ?? ''],
        ...[mostSchedules, longestHistory, ...recorded.map((one) => JSON.stringify(one))],
      ]),
    remove: (named: Named, after: string) =>
      swap(named, [after, '', '', named.name, idOf(named), '', mostSchedules, longestHistory]),
    /** What became of the last occurrences, the newest first. */
    async history(named: Named, limit: number): Promise<Occurrence[]> {
      const texts = await redis.lrange(historyKey(idOf(named)), 0, limit - 1);
      return texts.map((text) => occurrenceSchema.parse(JSON.parse(text)));
    },
    /** Schedules whose time has come, the most overdue first. */
    async due(now: number, limit: number): Promise<Named[]> {
      const ids = await redis.zrangebyscore(dueKey, '-inf', now, 'LIMIT', 0, limit);
      return ids.map((id) => ({ tenant: id.slice(0, id.indexOf('/')), name: id.slice(id.indexOf('/') + 1) }));
    },
  };
}
