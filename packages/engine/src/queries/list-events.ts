import type { LoggedEvent, Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { idsAfter, idsBefore, lastEventTimes, readLog, runIndexOf, seqBefore } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

/** Behind the events of a run up to `seq`, and behind all runs before that run. */
export interface EventPlace {
  runId: string;
  seq: number;
}

interface EventPage {
  items: LoggedEvent[];
  /** Where the next page begins; undefined: every run was read to its end. */
  next: EventPlace | undefined;
}

/** Runs whose logs one page looks at: a page of a filter that fits nothing costs no more. */
const mostRuns = 200;
const batch = 100;

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
  const from = since === undefined ? undefined : Date.parse(since);
  let next = after;
  let looked = 0;
  for await (const runId of runsFrom(deps, tenant, after?.runId)) {
    if (looked++ === mostRuns) return { items, next };
    const read = runId === after?.runId ? after.seq : 0;
    const seq = from === undefined ? read : Math.max(read, await seqBefore(deps.redis, runId, from));
    const space = limit - items.length;
    // One more than fits shows whether there is another page.
    const found = await readLog(deps.redis, runId, { after: seq, limit: space + 1 });
    items.push(...found.slice(0, space));
    next = { runId, seq: found.slice(0, space).at(-1)?.seq ?? seq };
    if (found.length > space) return { items, next };
  }
  return { items, next: undefined };
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
