import type { LoggedEvent, Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import * as runLog from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

/** A place behind the events of a run up to `seq`, and behind all earlier runs. */
export interface EventPlace {
  runId: string;
  seq: number;
}

interface EventPage {
  items: LoggedEvent[];
  /** Unreadable events and logs. The next page begins behind these. */
  damaged: runLog.Damaged[];
  /** Where the next page begins; undefined: every run was read to its end. */
  next: EventPlace | undefined;
}

/** Caps the logs read for one page, also when no event passes the filter. */
const mostRuns = 200;
const batch = 100;
/** No log is this long. A cursor has 15 digits at most. */
const behindAll = 999_999_999_999_999;

/**
 * Events of all runs of a tenant, in the order of the runs' ids (oldest run first), then in the order of each run's log. A page may have
 * fewer events than `limit`, or none, and still have a `next`. An event appended to a run before `next` appears on no later page.
 * @param page.since RFC 3339: leaves out earlier events
 */
export async function listEvents(
  deps: Deps,
  tenant: Tenant,
  { after, since, limit }: { after?: EventPlace | undefined; since?: string | undefined; limit: number },
): Promise<EventPage> {
  const items: LoggedEvent[] = [];
  const damaged: runLog.Damaged[] = [];
  const from = since === undefined ? undefined : Date.parse(since);
  let next = after;
  let looked = 0;
  for await (const runId of runsFrom(deps, tenant, after?.runId)) {
    if (looked++ === mostRuns) return { items, damaged, next };
    const read = runId === after?.runId ? after.seq : 0;
    const space = limit - items.length - damaged.length;
    // One event more than the limit shows whether there is another page.
    const found = await runLog.readEntry(runId, () => eventsOf(deps, runId, { read, from, limit: space + 1 }));
    if (found instanceof runLog.Damaged) {
      damaged.push(found);
      next = { runId, seq: behindAll };
      continue;
    }
    const shown = found.entries.slice(0, space);
    const split = runLog.splitDamaged(shown.map(({ entry }) => entry));
    items.push(...split.items);
    damaged.push(...split.damaged);
    next = { runId, seq: shown.at(-1)?.seq ?? found.seq };
    if (found.entries.length > space) return { items, damaged, next };
  }
  return { items, damaged, next: undefined };
}

/** The events of one run after the events already read, and since a time. */
async function eventsOf(
  { redis }: Deps,
  runId: string,
  { read, from, limit }: { read: number; from: number | undefined; limit: number },
): Promise<{ entries: Awaited<ReturnType<typeof runLog.readLogEntries>>; seq: number }> {
  const seq = from === undefined ? read : Math.max(read, await runLog.seqBefore(redis, runId, from));
  return { entries: await runLog.readLogEntries(redis, runId, { after: seq, limit }), seq };
}

/** The runs of a tenant, oldest first, from a given run on. */
async function* runsFrom({ redis }: Deps, tenant: Tenant, first: string | undefined): AsyncGenerator<string> {
  const index = runLog.runIndexOf(tenant);
  // A cursor may name a run of another tenant: then the cursor only marks a place in the order.
  if (first !== undefined && (await redis.zscore(index, first)) !== null) yield first;
  for (let ids = await runLog.idsAfter(redis, index, first, batch); ids.length > 0; ) {
    yield* ids;
    ids = await runLog.idsAfter(redis, index, ids.at(-1), batch);
  }
}

/** Ids of the runs of a tenant with an event at `since` or later, newest run first. Reads the last event of each run. */
export async function* runsChangedSince(deps: Deps, tenant: Tenant, since: number): AsyncGenerator<string> {
  let before: string | undefined;
  for (;;) {
    const ids = await runLog.idsBefore(deps.redis, runLog.runIndexOf(tenant), before, batch);
    const times = await runLog.lastEventTimes(deps.redis, ids);
    yield* ids.filter((_, at) => (times[at] ?? 0) >= since);
    before = ids.at(-1);
    if (ids.length < batch) return;
  }
}
