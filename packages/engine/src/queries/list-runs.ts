import { defaultTenant, type RunStatus, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { idsBefore, listTenants, readRun, runIndexOf } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

export interface RunFilter {
  /** @default the tenant `default` */
  tenant?: Tenant;
  status?: readonly RunStatus[];
  label?: { name: string; value: string };
  /** RFC 3339. */
  created_after?: string;
}

/** One page of a list, newest first. `next`: the cursor of the next page, when there is one. */
export interface Page<Item> {
  items: Item[];
  next?: string;
}

const batch = 100;

/** @param page.cursor the last id of the page before */
export async function listRuns(
  deps: Deps,
  filter: RunFilter,
  page: { limit: number; cursor?: string },
): Promise<Page<RunState>> {
  const items: RunState[] = [];
  for await (const id of walkBack(deps, runIndexOf(filter.tenant ?? defaultTenant), page.cursor)) {
    const run = await readRun(deps.redis, id);
    if (!run) continue;
    if (filter.created_after !== undefined && Date.parse(run.created_at) <= Date.parse(filter.created_after)) break;
    if (!matches(run, filter)) continue;
    const last = items.at(-1);
    if (items.length === page.limit && last) return { items, next: last.id };
    items.push(run);
  }
  return { items };
}

function matches(run: RunState, { status, label }: RunFilter): boolean {
  if (status && !status.includes(run.status)) return false;
  return label === undefined || run.header.labels[label.name] === label.value;
}

/** The ids of an index, newest first, read in batches. */
export async function* walkBack(deps: Deps, index: string, cursor?: string): AsyncGenerator<string> {
  let before = cursor;
  for (;;) {
    const ids = await idsBefore(deps.redis, index, before, batch);
    yield* ids;
    before = ids.at(-1);
    if (ids.length < batch) return;
  }
}

/** The ids of the runs of all tenants, newest first. */
export async function* walkAllRuns(deps: Deps): AsyncGenerator<string> {
  const walks = (await listTenants(deps.redis)).map((tenant) => walkBack(deps, runIndexOf(tenant)));
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
