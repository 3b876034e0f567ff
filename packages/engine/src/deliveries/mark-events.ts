import { defaultTenant, type LoggedEvent, selectsType } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { RunState } from '../domain/index.ts';
import { type FollowDeps, type Follower, type Following, followRuns } from '../following/follow-runs.ts';
import * as runLog from '../log/index.ts';
import { readTexts } from '../log/read-texts.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import { idOf, type ReceiverState } from './state.ts';
import type { DeliveryStore, Marked } from './store.ts';

interface Deps extends FollowDeps {
  store: DeliveryStore;
  now: () => number;
  /** Has receivers looked at. */
  wake: (ids: readonly string[]) => Promise<void>;
}

const page = 500;
/** Older events are not sent: the cursor of their run may be dropped. */
const longestMs = 30 * 86_400_000;

/** Marks the events of all runs for their receivers, in one process of many. An append costs nothing more for it. */
export function startMarking(deps: Deps, pace: { everyMs?: number; lookMs?: number } = {}): Following {
  return followRuns(deps, {
    ...{ name: 'deliveries', everyMs: 250, ...pace },
    open: async () => openMarker(deps),
    onError: (error) =>
      deps.logger.warn({ err: error }, 'events were not marked for their receivers; it is tried again'),
  });
}

/** Two markers at once do no harm: a mark is a conditional write. */
export function openMarker(deps: Omit<Deps, 'subscriber'>): Follower {
  const { redis, store, logger } = deps;
  const receivers = openReceivers(store);
  return {
    async handle(runIds, signal) {
      const known = await receivers.read();
      if (known.length === 0) return;
      const woken = new Set<string>();
      for (const runId of runIds) {
        signal.throwIfAborted();
        const ids = await runLog.readEntry(runId, () => markRun(deps, known, runId));
        if (!(ids instanceof runLog.Damaged)) for (const id of ids) woken.add(id);
        else logger.warn({ run_id: runId, err: ids.error }, 'the events of a run are not sent: its log cannot be read');
      }
      if (woken.size > 0) await deps.wake([...woken]);
    },
    async *unhandled(which) {
      const since = Math.min(...(await receivers.read()).map(({ since }) => Date.parse(since)));
      if (!Number.isFinite(since)) return;
      const pages = which === 'all' ? runLog.pagesOfRuns(redis, page) : runLog.pagesOf(redis, runLog.activeIndex, page);
      for await (const ids of pages) {
        const [cursors, seqs] = await Promise.all([store.cursors(ids), readSeqs(redis, ids)]);
        const behind = ids.filter((_, at) => (seqs[at] ?? 0) > (cursors[at] ?? 0));
        const times = await runLog.lastEventTimes(redis, behind).catch(() => behind.map(() => since));
        for (const [at, id] of behind.entries()) if ((times[at] ?? 0) >= since) yield id;
      }
    },
  };
}

/** The receivers of all tenants, read again when one has changed. A receiver that cannot be read gets nothing. */
function openReceivers(store: DeliveryStore) {
  let known: ReceiverState[] = [];
  let at: string | undefined;
  return {
    async read(): Promise<readonly ReceiverState[]> {
      const changes = await store.changes();
      if (changes === at) return known;
      known = (await store.all()).items.map(({ state }) => state);
      at = changes;
      return known;
    },
  };
}

async function readSeqs(redis: Redis, ids: readonly string[]): Promise<number[]> {
  const replies = await redis.pipeline(ids.map((id) => ['hget', runLog.stateKey(id), 'seq'])).exec();
  return (replies ?? []).map(([, value]) => Number(value ?? 0));
}

/** @returns the receivers that are due now */
async function markRun(
  { redis, store, now }: Pick<Deps, 'redis' | 'store' | 'now'>,
  receivers: readonly ReceiverState[],
  runId: string,
): Promise<string[]> {
  const run = await runLog.readRun(redis, runId);
  if (run === undefined) return [];
  const mine = receivers.filter((one) => concerns(one, run));
  if (mine.length === 0) return [];
  const woken: string[] = [];
  for (;;) {
    const after = await store.cursor(runId);
    const texts = await readTexts(redis, runId, { after: after ?? 0, limit: page });
    const events = texts.map(({ seq, text }) => recordedEvent(runId, seq, text));
    const last = events.at(-1);
    if (last === undefined) return woken;
    const marked = mine.flatMap((one) => markFor(one, run, events, now() - longestMs));
    woken.push(...(await store.mark(runId, { after, cursor: last.seq, marked, now: now() })));
    if (events.length < page) return woken;
  }
}

const concerns = ({ tenant, filter }: ReceiverState, run: RunState): boolean =>
  tenant === (run.tenant ?? defaultTenant) &&
  Object.entries(filter.labels).every(([name, value]) => run.header.labels[name] === value);

type Event = Pick<LoggedEvent, 'seq' | 'type' | 'time'>;

function markFor(receiver: ReceiverState, run: RunState, events: readonly Event[], oldest: number): Marked[] {
  const found = events.filter((event) => isFor(receiver, run, event) && Date.parse(event.time) >= oldest);
  const [first, last] = [found[0], found.at(-1)];
  return first === undefined || last === undefined ? [] : [{ id: idOf(receiver), first: first.seq, last: last.seq }];
}

/** A sub-agent reports to its run: its beginning and end concern no receiver. */
export function isFor(receiver: ReceiverState, run: RunState, { type, time }: Event): boolean {
  if (run.parent !== undefined && type.startsWith('run.')) return false;
  return concerns(receiver, run) && selectsType(receiver.filter, type) && time >= receiver.since;
}
