import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type DeliveryTry, deliveryTrySchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { type Damaged, readEntry, splitDamaged } from '../log/index.ts';
import * as states from './state.ts';

const [putScript, markScript, claimScript, settleScript] = ['put', 'mark', 'claim', 'settle'].map((name) =>
  readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8'),
) as [string, string, string, string];

const mostReceivers = 2000;
/** Runs with events that wait for one receiver. */
const mostLanes = 100_000;
const longestLog = 200;
/** Events are sent for thirty days: a cursor outlives them. */
const cursorSeconds = 31 * 86_400;
/** Receivers marked by one call of a script. */
const markedTogether = 100;

/** The keys share a hash tag, because a script uses them together. */
const prefix = 'hp:{deliveries}:';
const receiverKey = (id: string): string => `${prefix}receiver:${id}`;
/** A sorted set: lanes by the time at which they are due, in milliseconds. */
const timesKey = (id: string): string => `${prefix}times:${id}`;
/** A hash by lane: `cursor:last event to send:failures:token of the holder`. */
const lanesKey = (id: string): string => `${prefix}lanes:${id}`;
const logKey = (id: string): string => `${prefix}log:${id}`;
const namesKey = ({ kind, tenant }: Omit<states.Receiver, 'name'>): string => `${prefix}names:${kind}/${tenant}`;
const allKey = `${prefix}all`;
const changesKey = `${prefix}changes`;
/** A sorted set: receivers with events, by the time of their next look, in milliseconds. */
const dueKey = `${prefix}due`;
/** The last sequence number of a run whose events are marked for receivers. */
const cursorKey = (runId: string): string => `${prefix}cursor:${runId}`;

/** A receiver, with the mark of this very state. */
export interface StoredReceiver {
  revision: string;
  state: states.ReceiverState;
}

/** The events of a run that are for a receiver: the first and the last. */
export interface Marked {
  id: string;
  first: number;
  last: number;
}

/** A run with events for a receiver, or a single event that a caller wants again. */
export interface Lane {
  /** The id of the run, or `run@seq`. */
  name: string;
  /** Events up to this one are done. */
  cursor: number;
  upto: number;
  failures: number;
}

export interface Settled {
  outcome: 'delivered' | 'left_out' | 'event_failed' | 'receiver_failed' | 'released';
  cursor: number;
  /** When the lane is due again, or the receiver for `receiver_failed`. */
  dueAt: number;
  record?: DeliveryTry | undefined;
  error?: string | undefined;
}

export type DeliveryStore = ReturnType<typeof openDeliveryStore>;

/** The receivers in Redis, and what waits for them. */
export function openDeliveryStore(redis: Redis) {
  const ofOne = (id: string): string[] => [receiverKey(id), timesKey(id), lanesKey(id)];
  const put = async (
    receiver: states.Receiver,
    { after = '', text, off = false, fresh = false, now }: PutOptions,
  ): Promise<'stored' | 'changed' | 'full'> => {
    const id = states.idOf(receiver);
    const keys = [
      receiverKey(id),
      namesKey(receiver),
      allKey,
      changesKey,
      dueKey,
      timesKey(id),
      lanesKey(id),
      logKey(id),
    ];
    const flags = [off ? '1' : '', fresh ? '1' : ''];
    const given = [after, randomUUID(), text, receiver.name, id, mostReceivers, ...flags, now];
    return (await redis.eval(putScript, keys.length, ...keys, ...given)) as 'stored' | 'changed' | 'full';
  };
  const find = async (id: string): Promise<StoredReceiver | undefined> => {
    const [revision, text] = await redis.hmget(receiverKey(id), 'revision', 'state');
    if (revision == null || text == null) return undefined;
    return { revision, state: states.receiverStateSchema.parse(JSON.parse(text)) };
  };
  const listIds = async (ids: readonly string[]): Promise<{ items: StoredReceiver[]; damaged: Damaged[] }> => {
    const found = await Promise.all(ids.map((id) => readEntry(id, () => find(id))));
    return splitDamaged(found.filter((one) => one !== undefined));
  };
  const names = (of: Omit<states.Receiver, 'name'>): Promise<string[]> => redis.zrange(namesKey(of), '0', '-1');
  return {
    find,
    names,
    /** By name. */
    list: async (of: Omit<states.Receiver, 'name'>) =>
      listIds((await names(of)).map((name) => states.idOf({ ...of, name }))),
    /** The receivers of all tenants. */
    all: async () => listIds(await redis.zrange(allKey, '0', '-1')),
    count: (): Promise<number> => redis.zcard(allKey),
    /** Changes with every change of a receiver. */
    changes: async (): Promise<string> => (await redis.get(changesKey)) ?? '',
    /**
     * Replaces the state `after`. `full`: the tenant has as many receivers as a tenant may have.
     * @param options.fresh forgets failures, and has everything that waits sent now
     */
    put: (state: states.ReceiverState, { after, fresh, now }: { after?: string; fresh?: boolean; now: number }) =>
      put(state, { after, text: JSON.stringify(state), off: state.off !== undefined, fresh, now }),
    remove: (receiver: states.Receiver, after: string) => put(receiver, { after, text: '', now: 0 }),
    health: (id: string): Promise<states.Health> => readHealth(redis, id),
    /** The last tries, the newest first. */
    async log(id: string, limit: number): Promise<DeliveryTry[]> {
      const texts = await redis.lrange(logKey(id), 0, limit - 1);
      return texts.map((text) => deliveryTrySchema.parse(JSON.parse(text)));
    },
    async cursor(runId: string): Promise<number | undefined> {
      const text = await redis.get(cursorKey(runId));
      return text === null ? undefined : Number(text);
    },
    cursors: async (runIds: readonly string[]): Promise<(number | undefined)[]> =>
      (await redis.mget(runIds.map(cursorKey))).map((text) => (text === null ? undefined : Number(text))),
    /**
     * Marks the events up to `cursor`, and moves the cursor. Nothing changes when another process did.
     * @returns the receivers that are due now
     */
    async mark(
      runId: string,
      {
        after,
        cursor,
        marked,
        now,
      }: { after: number | undefined; cursor: number; marked: readonly Marked[]; now: number },
    ): Promise<string[]> {
      const woken: string[] = [];
      for (let at = 0; at === 0 || at < marked.length; at += markedTogether) {
        const some = marked.slice(at, at + markedTogether);
        const isLast = at + markedTogether >= marked.length;
        const keys = [cursorKey(runId), dueKey, ...some.flatMap(({ id }) => ofOne(id))];
        const given = [
          ...[after ?? '', isLast ? cursor : '', cursorSeconds, now, mostLanes, runId],
          ...some.flatMap(({ id, first, last }) => [id, first, last]),
        ];
        const answer = (await redis.eval(markScript, keys.length, ...keys, ...given)) as string[] | 'changed';
        if (answer === 'changed') return woken;
        woken.push(...answer);
      }
      return woken;
    },
    /** Has a single event sent again. */
    async markAgain(id: string, { run_id, seq, now }: { run_id: string; seq: number; now: number }): Promise<void> {
      // The cursor of no run: nothing moves it.
      const keys = [cursorKey('none'), dueKey, ...ofOne(id)];
      const given = ['', '', cursorSeconds, now, mostLanes, `${run_id}@${seq}`, id, seq, seq];
      await redis.eval(markScript, keys.length, ...keys, ...given);
    },
    /** Takes lanes that are due, until `until`. @returns with the time of the next look */
    async claim(
      id: string,
      { now, until, most, token }: { now: number; until: number; most: number; token: string },
    ): Promise<{ lanes: Lane[]; next: number | undefined }> {
      const keys = [...ofOne(id), dueKey];
      const [next = '', ...rest] = (await redis.eval(
        ...([claimScript, keys.length, ...keys, id, now, until, most, token] as const),
      )) as string[];
      const lanes: Lane[] = [];
      for (let at = 0; at < rest.length; at += 4) {
        const [name = '', cursor, upto, failures] = rest.slice(at, at + 4);
        lanes.push({ name, cursor: Number(cursor), upto: Number(upto), failures: Number(failures) });
      }
      return { lanes, next: next === '' ? undefined : Number(next) };
    },
    /** @returns the last event to send while the lane is still held; otherwise the failures so far; undefined: another holder has the lane */
    async settle(
      id: string,
      lane: { name: string; token: string },
      { outcome, cursor, dueAt, record, error = '', now }: Settled & { now: number },
    ): Promise<{ upto: number } | { failures: number } | undefined> {
      const keys = [...ofOne(id), dueKey, logKey(id)];
      const text = record === undefined ? '' : JSON.stringify(record);
      const given = [id, lane.name, lane.token, outcome, cursor, now, dueAt, text, longestLog, error.slice(0, 500)];
      const [what, value] = (await redis.eval(settleScript, keys.length, ...keys, ...given)) as string[];
      if (what === 'lost') return undefined;
      return what === 'held' ? { upto: Number(value) } : { failures: Number(value) };
    },
    /** Receivers whose time has come, the most overdue first. */
    due: (now: number, limit: number): Promise<string[]> => redis.zrangebyscore(dueKey, '-inf', now, 'LIMIT', 0, limit),
  };
}

interface PutOptions {
  after?: string | undefined;
  text: string;
  off?: boolean | undefined;
  fresh?: boolean | undefined;
  now: number;
}

async function readHealth(redis: Redis, id: string): Promise<states.Health> {
  const [pending, values] = await Promise.all([
    redis.zcard(timesKey(id)),
    redis.hmget(receiverKey(id), 'attempt', 'since', 'retry_at', 'last_ok', 'last_error', 'dropped'),
  ]);
  const numberAt = (at: number): number | undefined => (values[at] == null ? undefined : Number(values[at]));
  return {
    ...{ pending, failures: numberAt(0) ?? 0, failingSince: numberAt(1), retryAt: numberAt(2) },
    ...{ lastDelivered: numberAt(3), lastError: values[4] ?? undefined, dropped: numberAt(5) ?? 0 },
  };
}
