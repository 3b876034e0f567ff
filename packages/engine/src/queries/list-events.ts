import type { LoggedEvent, Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import {
  Damaged,
  idsAfter,
  idsBefore,
  lastEventTimes,
  readEntry,
  readLogEntries,
  runIndexOf,
  seqBefore,
  splitDamaged,
} from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

/** Behind the events of a run up to `seq`, and behind all runs before that run. */
export interface EventPlace {
  runId: string;
  seq: number;
}

interface EventPage {
  items: LoggedEvent[];
  /** Events, and whole logs, that cannot be read; the next page is behind them. */
  damaged: Damaged[];
  /** Where the next page begins; undefined: every run was read to its end. */
  next: EventPlace | undefined;
}

/** Runs whose logs one page looks at: a page of a filter that fits nothing costs no more. */
const mostRuns = 200;
const batch = 100;
/** No log is that long; a cursor has 15 digits at most. */
const behindAll = 999_999_999_999_999;

/**
 * Events of all runs of a tenant, in the order of the runs' ids (oldest run first), and of each run in the order of its log. A page may have
 * fewer events than `limit`, or none, and still have a `next`. An event that is appended to a run before `next` is on no later page.
 * @param page.since RFC 3339: leaves out the events before that time
 */
export async function listEvents(
  deps: Deps,
  tenant: Tenant,
  { after, since, limit }: { after?: EventPlace | undefined; since?: string | undefined; limit: number },
): Promise<EventPage> {
  const items: LoggedEvent[] = [];
  const damaged: Damaged[] = [];
  const from = since === undefined ? undefined : Date.parse(since);
  let next = after;
  let looked = 0;
  for await (const runId of runsFrom(deps, tenant, after?.runId)) {
    if (looked++ === mostRuns) return { items, damaged, next };
    const read = runId === after?.runId ? after.seq : 0;
    const space = limit - items.length - damaged.length;
    // One more than fits shows whether there is another page.
    const found = await readEntry(runId, () => eventsOf(deps, runId, { read, from, limit: space + 1 }));
    if (found instanceof Damaged) {
      damaged.push(found);
      next = { runId, seq: behindAll };
      continue;
    }
    const shown = found.entries.slice(0, space);
    const split = splitDamaged(shown.map(({ entry }) => entry));
    items.push(...split.items);
    damaged.push(...split.damaged);
    next = { runId, seq: shown.at(-1)?.seq ?? found.seq };
    if (found.entries.length > space) return { items, damaged, next };
  }
  return { items, damaged, next: undefined };
}

/** The events of one run behind those that were read, and since a time. */
async function eventsOf(
  { redis }: Deps,
  runId: string,
  { read, from, limit }: { read: number; from: number | undefined; limit: number },
): Promise<{ entries: Awaited<ReturnType<typeof readLogEntries>>; seq: number }> {
  const seq = from === undefined ? read : Math.max(read, await seqBefore(redis, runId, from));
  return { entries: await readLogEntries(redis, runId, { after: seq, limit }), seq };
}

/** The runs of a tenant, oldest first, beginning with one of them. */
async function* runsFrom({ redis }: Deps, tenant: Tenant, first: string | undefined): AsyncGenerator<string> {
  const index = runIndexOf(tenant);
  // A cursor may name a run of another tenant: then it is only a place in the order.
  if (first !== undefined && (await redis.zscore(index, first)) !== null) yield first;
  for (let ids = await idsAfter(redis, index, first, batch); ids.length > 0; ) {
    yield* ids;
    ids = await idsAfter(redis, index, ids.at(-1), batch);
  }
}

/** Ids of the runs of a tenant with an event at that time or later, newest run first. Reads the last event of each of its runs. */
export async function* runsChangedSince(deps: Deps, tenant: Tenant, since: number): AsyncGenerator<string> {
  let before: string | undefined;
  for (;;) {
    const ids = await idsBefore(deps.redis, runIndexOf(tenant), before, batch);
    const times = await lastEventTimes(deps.redis, ids);
    yield* ids.filter((_, at) => (times[at] ?? 0) >= since);
    before = ids.at(-1);
    if (ids.length < batch) return;
  }
}
