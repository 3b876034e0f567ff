import { type RunStatus, runStatusSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { requestCancel, requestPause, submitRun } from '../commands/index.ts';
import type { RunState } from '../domain/index.ts';
import { correctLists, Damaged, readRuns, searchTitles } from '../log/index.ts';
import { runIndexOf, statusIndexOf, titlesKey } from '../log/keys.ts';
import { copyRun } from '../testing/copy-run.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { countRuns, listRuns, type RunFilter } from './index.ts';

const engine = useTestEngine({ fresh: true });
const hold = { policy: { rules: [{ match: { tool: 'count' }, action: 'hold' as const }] } };
const titles = ['Fix the Login', 'fix LOGIN again', 'ÄNDERE die Anmeldung', 'release 1.2', 'a.*b', '100 % sure'];
const parts = ['login', 'FIX', 'ändere', '.*', '%', 'e', 'no such text', '1.2'];
const tenants = ['default', 'acme'];

const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;
const maybe = <Value>(value: Value): Value | undefined => (Math.random() < 0.5 ? value : undefined);

test('every page of every filter, and every count, is what a reading of all states gives', async () => {
  const { deps } = inMemoryWorker(engine);
  for (let n = 0; n < 24; n++) {
    const held = Math.random() < 0.5 ? hold : {};
    const spec = { ...specOf([[{ args: { effect: 'workspace' } }]], held), title: oneOf(titles) };
    const labels = { team: oneOf(['red', 'blue']) };
    const { runId } = await submitRun(deps, { spec: { ...spec, labels }, by: 'test', tenant: oneOf(tenants) });
    if (n % 3 === 0) await deliverAll(deps);
    if (n % 5 === 0) await requestCancel(deps, runId, { by: 'test' }).catch(() => undefined);
    else if (n % 7 === 0) await requestPause(deps, runId, 'test').catch(() => undefined);
  }
  await deliverAll(deps);
  const all = (await Promise.all(tenants.map(statesOf))).flat();
  const times = all.map(({ created_at }) => created_at);
  for (let round = 0; round < 60; round++) {
    const filter: RunFilter = {
      tenant: oneOf(tenants),
      title: maybe(oneOf(parts)),
      label: maybe({ name: 'team', value: oneOf(['red', 'blue', 'green']) }),
      status: maybe([oneOf<RunStatus>(['waiting', 'succeeded', 'canceled', 'paused', 'queued']), 'failed']),
      created_before: maybe(oneOf(times)),
      created_after: maybe(oneOf(times)),
    };
    expect({ filter, ids: await idsOf(filter, 1 + (round % 4)) }).toEqual({ filter, ids: naive(all, filter) });
  }
  for (let round = 0; round < 60; round++) {
    const [tenant, title, looks] = [oneOf(tenants), oneOf(parts), 1 + (round % 5)];
    const status = runStatusSchema.options.filter(() => Math.random() < 0.7);
    const ids = await searchWhole({ tenant, title, status }, looks, 1 + (round % 3));
    expect({ title, status, looks, ids }).toEqual({ title, status, looks, ids: naive(all, { tenant, title, status }) });
  }
  for (const tenant of tenants) {
    for (const label of [undefined, { name: 'team', value: 'red' }, { name: 'team', value: 'none' }]) {
      const { byStatus } = await countRuns(deps, { tenant, label });
      const counts = byStatus.filter(({ count }) => count > 0);
      const read = counts.map(({ status }) => ({
        status,
        count: naive(all, { tenant, label, status: [status] }).length,
      }));
      expect(counts).toEqual(read);
      expect(byStatus.reduce((sum, { count }) => sum + count, 0)).toBe(naive(all, { tenant, label }).length);
    }
  }
});

test('a run without a kept title is found, and the next round of the sweep keeps its title', async () => {
  const { deps } = inMemoryWorker(engine);
  const spec = { ...specOf([[{ args: { effect: 'workspace' } }]]), title: 'Kept by no process' };
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  const kept = () => deps.redis.hget(titlesKey('default'), runId);
  await expect.poll(kept).toBe('kept by no process');
  await deps.redis.del(titlesKey('default'));
  expect(await idsOf({ title: 'BY NO' }, 3)).toEqual([runId]);
  expect(await idsOf({ title: 'by none' }, 3)).toEqual([]);
  expect(await correctLists(deps.redis, 'default', [runId])).toBe(0);
  expect(await kept()).toBe('kept by no process');
  expect(await idsOf({ title: 'BY NO' }, 3)).toEqual([runId]);
});

test('a run between two lists is on a page once', async () => {
  const { deps } = inMemoryWorker(engine);
  const spec = { ...specOf([[{ args: { effect: 'workspace' } }]]), title: 'In two lists' };
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  for (const status of ['running', 'waiting'] as const) {
    await deps.redis.zadd(statusIndexOf('default', status), 0, runId);
  }
  const status: RunStatus[] = ['running', 'waiting', 'succeeded'];
  for (const title of [undefined, 'in two']) expect(await idsOf({ title, status }, 10)).toEqual([runId]);
});

test('a search that finds nothing stops after a bounded number of titles, and its cursor continues', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, {
    spec: { ...specOf([[{ args: { effect: 'workspace' } }]]), title: 'the oldest' },
    by: 'test',
  });
  await deliverAll(deps);
  const { runId: copied } = await submitRun(deps, {
    spec: { ...specOf([[{ args: { effect: 'workspace' } }]]), title: 'many' },
    by: 'test',
  });
  await deliverAll(deps);
  await copyRun(deps.redis, copied, 10_500);
  const first = await listRuns(deps, { title: 'OLDEST' }, { limit: 10 });
  expect(first).toMatchObject({ items: [], next: expect.stringMatching(/^run_/) });
  const second = await listRuns(deps, { title: 'OLDEST' }, { limit: 10, cursor: first.next });
  expect(second.items.map(({ id }) => id)).toEqual([runId]);
  expect(second.next).toBeUndefined();
});

async function statesOf(tenant: string): Promise<RunState[]> {
  const ids = await engine.deps.redis.zrange(runIndexOf(tenant), '0', '-1');
  const runs = await readRuns(engine.deps.redis, ids);
  return runs.filter((run) => run !== undefined && !(run instanceof Damaged)) as RunState[];
}

async function idsOf(filter: RunFilter, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await listRuns(engine.deps, filter, { limit, cursor });
    expect(items.length).toBeLessThanOrEqual(limit);
    found.push(...items.map(({ id }) => id));
    if (next === undefined) return found;
    cursor = next;
  }
}

/** All looks of a search, each at a few entries of a list. */
async function searchWhole(
  { tenant, title, status }: { tenant: string; title: string; status: readonly RunStatus[] },
  looks: number,
  most: number,
): Promise<string[]> {
  const found: string[] = [];
  const any = status.map((one) => statusIndexOf(tenant, one));
  for (let cursor: string | undefined; ; ) {
    const page = { cursor, most, looks };
    const { ids, next } = await searchTitles(engine.deps.redis, tenant, { title, any, all: [] }, page);
    found.push(...ids);
    if (next === undefined) return found;
    cursor = next;
  }
}

function naive(all: readonly RunState[], filter: RunFilter): string[] {
  const { tenant = 'default', title, label, status, created_before: before, created_after: after } = filter;
  return all
    .filter((run) => (run.tenant ?? 'default') === tenant)
    .filter(({ header }) => title === undefined || header.title.toLowerCase().includes(title.toLowerCase()))
    .filter(({ header }) => label === undefined || header.labels[label.name] === label.value)
    .filter((run) => status === undefined || status.includes(run.status))
    .filter((run) => before === undefined || run.created_at < before)
    .filter((run) => after === undefined || run.created_at > after)
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
}
