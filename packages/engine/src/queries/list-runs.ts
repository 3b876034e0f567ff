import { defaultTenant, type RunStatus, runStatusSchema, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { cursorAt, earlierOf, type RunState } from '../domain/index.ts';
import * as runLog from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

export interface RunFilter {
  /** @default the tenant `default` */
  tenant?: Tenant;
  status?: readonly RunStatus[];
  label?: { name: string; value: string };
  /** RFC 3339. */
  created_after?: string;
  /** RFC 3339. */
  created_before?: string;
  /** Part of the title. Upper and lower case are the same. */
  title?: string;
}

/** One page of a list, in the order of the list. `next`: the cursor of the next page, if any. */
export interface Page<Item> {
  items: Item[];
  /** Entries of the page that cannot be read. */
  damaged: runLog.Damaged[];
  next?: string | undefined;
}

const batch = 100;

/**
 * A page of a search by title may be short, or empty, and still have a `next`: the search stopped after `mostLooks` looks.
 * @param page.cursor the last id of the previous page
 */
export async function listRuns(
  deps: Deps,
  filter: RunFilter,
  page: { limit: number; cursor?: string },
): Promise<Page<RunState>> {
  const entries: (RunState | runLog.Damaged)[] = [];
  const after = filter.created_after === undefined ? undefined : Date.parse(filter.created_after);
  const before = earlierOf(page.cursor, cursorAt('run', filter.created_before));
  for await (const { ids, stopped } of candidates(deps, filter, { cursor: before, most: page.limit + 1 })) {
    for (const run of await runLog.readRuns(deps.redis, ids)) {
      if (!run) continue;
      if (!(run instanceof runLog.Damaged)) {
        if (after !== undefined && Date.parse(run.created_at) <= after) return runLog.splitDamaged(entries);
        if (!matches(run, filter)) continue;
      }
      const last = entries.at(-1);
      if (entries.length === page.limit && last) return { ...runLog.splitDamaged(entries), next: last.id };
      entries.push(run);
    }
    if (stopped !== undefined) return { ...runLog.splitDamaged(entries), next: stopped };
  }
  return runLog.splitDamaged(entries);
}

/** Looks of a search by title at 2,000 titles each, before it answers with what it has. */
const mostLooks = 5;

interface Candidates {
  ids: string[];
  /** Where a search by title has stopped; a later page continues there. */
  stopped?: string | undefined;
}

/**
 * Ids of the runs that may fit a filter, newest first, in pages. The lists may be ahead of the states, so callers also check the states.
 */
async function* candidates(
  { redis }: Deps,
  { tenant = defaultTenant, status, label, title }: RunFilter,
  page: { cursor: string | undefined; most: number },
): AsyncGenerator<Candidates> {
  const all = label === undefined ? [] : [runLog.labelIndexOf(tenant, label.name, label.value)];
  if (title !== undefined) {
    const statuses = (status ?? runStatusSchema.options).map((one) => runLog.statusIndexOf(tenant, one));
    yield* search(redis, tenant, { title, any: [...new Set(statuses)], all }, page);
    return;
  }
  const any = [...new Set(status ?? [])].map((one) => runLog.statusIndexOf(tenant, one));
  const isFiltered = any.length + all.length > 0;
  const pages = isFiltered
    ? runLog.pick(redis, { any, all }, page)
    : pagesBack({ redis }, runLog.runIndexOf(tenant), page);
  for await (const ids of pages) yield { ids };
}

async function* search(
  redis: Deps['redis'],
  tenant: Tenant,
  searched: runLog.TitleSearch,
  { cursor, most }: { cursor: string | undefined; most: number },
): AsyncGenerator<Candidates> {
  let before = cursor;
  for (let look = 1; look <= mostLooks; look++) {
    const { ids, next } = await runLog.searchTitles(redis, tenant, searched, { cursor: before, most });
    yield { ids, stopped: look === mostLooks ? next : undefined };
    if (next === undefined) return;
    before = next;
  }
}

function matches(run: RunState, { status, label, created_before: before, title }: RunFilter): boolean {
  if (status && !status.includes(run.status)) return false;
  if (before !== undefined && Date.parse(run.created_at) >= Date.parse(before)) return false;
  if (title !== undefined && !runLog.foldTitle(run.header.title).includes(runLog.foldTitle(title))) return false;
  return label === undefined || run.header.labels[label.name] === label.value;
}

/** The ids of an index, newest first, read in batches. */
export async function* walkBack(deps: Deps, index: string, cursor?: string): AsyncGenerator<string> {
  for await (const ids of pagesBack(deps, index, { cursor, most: batch })) yield* ids;
}

/** Like `walkBack`, in pages of `most` ids. */
async function* pagesBack(
  deps: Deps,
  index: string,
  { cursor, most }: { cursor: string | undefined; most: number },
): AsyncGenerator<string[]> {
  for (let before = cursor; ; ) {
    const ids = await runLog.idsBefore(deps.redis, index, before, most);
    if (ids.length > 0) yield ids;
    if (ids.length < most) return;
    before = ids.at(-1);
  }
}

/** The ids of the runs of all tenants, newest first. */
export async function* walkAllRuns(deps: Deps): AsyncGenerator<string> {
  const walks = (await runLog.listTenants(deps.redis)).map((tenant) => walkBack(deps, runLog.runIndexOf(tenant)));
  const heads = await Promise.all(walks.map((walk) => walk.next()));
  for (;;) {
    let newest: number | undefined;
    for (const [at, { value: id }] of heads.entries()) {
      if (id !== undefined && (newest === undefined || id > (heads[newest]?.value ?? ''))) newest = at;
    }
    const walk = newest === undefined ? undefined : walks[newest];
    if (newest === undefined || walk === undefined) return;
    yield heads[newest]?.value ?? '';
    heads[newest] = await walk.next();
  }
}

interface RunCounts {
  byStatus: { status: RunStatus; count: number }[];
  /** The reasons of waiting and paused runs. */
  byReason: { status: RunStatus; reason: string; count: number }[];
  /** The statuses with more runs of the label than were counted. */
  atLeast: RunStatus[];
}

/** Counts the runs of a tenant by status and reason. The numbers are sizes of lists: no run is read. */
export async function countRuns(
  { redis }: Pick<EngineDeps, 'redis'>,
  { tenant = defaultTenant, label }: Pick<RunFilter, 'label'> & { tenant?: Tenant },
): Promise<RunCounts> {
  const counted = await (label === undefined
    ? runLog.countListed(redis, tenant)
    : runLog.countLabelled(redis, tenant, label));
  const byStatus = counted.flatMap(({ status, reason, count }) => (reason === undefined ? [{ status, count }] : []));
  const byReason = counted.flatMap(({ status, reason, count }) =>
    reason === undefined || count === 0 ? [] : [{ status, reason, count }],
  );
  const isOver = ({ count }: { count: number }): boolean => label !== undefined && count >= runLog.mostCounted;
  return { byStatus, byReason, atLeast: byStatus.filter(isOver).map(({ status }) => status) };
}
