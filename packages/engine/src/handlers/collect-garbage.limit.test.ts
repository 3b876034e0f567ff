import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { forkRun, requestPublication, submitRun } from '../commands/index.ts';
import type { Retention } from '../deps.ts';
import { readLog, readRun, toPayload } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { collectGarbage } from './collect-garbage.ts';

const engine = useTestEngine({ fresh: true });

const day = 24 * 3_600_000;
const write = (note = '') => [[{ args: { effect: 'workspace', note } }]];

async function finished(deps: InMemoryWorker['deps'], then?: 'publish'): Promise<string> {
  const { runId } = await submitRun(deps, { spec: specOf(write()), by: 'test' });
  await deliverAll(deps);
  if (then === 'publish') await requestPublication(deps, runId, { by: 'ann', message: 'm' });
  await deliverAll(deps);
  return runId;
}

/** Housekeeping so many days from now, and what it asks for done. */
async function house(deps: InMemoryWorker['deps'], retention: Retention, days: number): Promise<void> {
  const later = { ...deps, retention, now: () => Date.now() + days * day };
  await collectGarbage(later, new AbortController().signal);
  await deliverAll(deps);
}

const publicationOf = async (runId: string) => (await listSteps(engine.deps, runId)).run.publication;

test('without bounds nothing is discarded; with one, only what is past it', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await finished(deps, 'publish');
  await house(deps, {}, 1000);
  expect(await publicationOf(runId)).toBe('published');
  await house(deps, { days: 7 }, 6);
  expect(await publicationOf(runId)).toBe('published');
  await house(deps, { days: 7 }, 8);
  expect(await publicationOf(runId)).toBe('discarded');
});

test('of ended runs the latest keep their workspace', async () => {
  const { deps } = inMemoryWorker(engine);
  const runs = [await finished(deps, 'publish'), await finished(deps, 'publish'), await finished(deps, 'publish')];
  await house(deps, { runs: 2 }, 0);
  expect(await Promise.all(runs.map(publicationOf))).toEqual(['discarded', 'published', 'published']);
});

test('an unpublished change set stays, and so does an active run', async () => {
  const { deps } = inMemoryWorker(engine);
  const unpublished = await finished(deps);
  const { runId: waiting } = await submitRun(deps, {
    spec: specOf(write(), { policy: { rules: [{ match: {}, action: 'hold' }] } }),
    by: 'test',
  });
  await deliverAll(deps);
  await house(deps, { days: 0, runs: 0 }, 1000);
  expect(await publicationOf(unpublished)).toBe('none');
  expect((await listSteps(deps, waiting)).run).toMatchObject({ status: 'waiting', publication: 'none' });
});

test('of ended runs only so many keep their tree, unpublished ones included', async () => {
  const { deps, dropped } = inMemoryWorker(engine);
  const runs = [await finished(deps), await finished(deps), await finished(deps)];
  await house(deps, { runs: 1 }, 0);
  expect([...dropped].sort()).toEqual(runs.slice(0, 2).sort());
  expect(await Promise.all(runs.map(publicationOf))).toEqual(['none', 'none', 'none']);
  // It can be published as before, and is not dropped twice.
  const [first = ''] = runs;
  const lease = async () => (await readRun(deps.redis, first))?.lease;
  const before = await lease();
  await house(deps, { runs: 1 }, 0);
  expect(await lease()).toBe(before);
  await requestPublication(deps, first, { by: 'ann', message: 'm' });
  await deliverAll(deps);
  expect(await publicationOf(first)).toBe('published');
});

test('the tree of a published run goes without any bound', async () => {
  const { deps, dropped } = inMemoryWorker(engine);
  const [published, unpublished] = [await finished(deps, 'publish'), await finished(deps)];
  await house(deps, {}, 0);
  expect([dropped.has(published), dropped.has(unpublished)]).toEqual([true, false]);
  expect(await publicationOf(published)).toBe('published');
});

test('a workspace that a fork still needs stays until the fork has its copy', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await finished(deps, 'publish');
  const { runId: child } = await forkRun(deps, runId, { fromStep: 1, changes: {}, by: 'ann' });
  await collectGarbage({ ...deps, retention: { days: 0 }, now: () => Date.now() + 1000 }, new AbortController().signal);
  expect(await publicationOf(runId)).toBe('published');
  await deliverAll(deps);
  await house(deps, { days: 0 }, 1);
  expect(await publicationOf(runId)).toBe('discarded');
  expect((await listSteps(deps, child)).run.status).toBe('succeeded');
});

test('blobs that a log refers to stay, however old; others go after a week in the trash', async () => {
  const { deps } = inMemoryWorker(engine);
  const large = { ...specOf(write('x'.repeat(40_000))), title: 'large' };
  const { runId } = await submitRun(deps, { spec: large, by: 'test' });
  await deliverAll(deps);
  const orphan = await toPayload(deps.blobs, 'y'.repeat(50_000));
  await house(deps, {}, 2);
  const [created] = await readLog(deps.redis, runId, { limit: 1 });
  const spec = created?.type === 'run.created' ? created.data.spec : undefined;
  if (spec === undefined || !('sha256' in spec) || !('sha256' in orphan))
    throw new Error('the values are not in the blob store');
  await expect(deps.blobs.get(spec.sha256)).resolves.toBeDefined();
  await expect(deps.blobs.get(orphan.sha256)).resolves.toBeDefined();
  await house(deps, {}, 8);
  await expect(deps.blobs.get(spec.sha256)).resolves.toBeDefined();
  await expect(deps.blobs.get(orphan.sha256)).rejects.toMatchObject({ code: 'blob_missing' });
});

test('a content that an outcome names stays as long as the log, even where its value is a blob', async () => {
  const { deps } = inMemoryWorker(engine);
  const [content, value] = [Buffer.from('pixels'), { note: 'z'.repeat(5000) }];
  const execute: typeof deps.executor.execute = async () => ({ status: 'succeeded', value, contents: [content] });
  await finished({ ...deps, executor: { ...deps.executor, execute } });
  await house(deps, {}, 2);
  await house(deps, {}, 20);
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(await deps.blobs.get(sha256)).toEqual(content);
});

test('on a Redis that is not of this installation nothing is looked at, and nothing moves', async () => {
  const { deps } = inMemoryWorker(engine);
  const asked: string[] = [];
  const strange = {
    ...deps,
    confirmInstallation: () => Promise.reject(new Error('another Redis')),
    workspaces: {
      ...deps.workspaces,
      tidy: async () => {
        asked.push('tidy');
        return [];
      },
    },
  };
  await expect(collectGarbage(strange, new AbortController().signal)).rejects.toThrow('another Redis');
  expect(asked).toEqual([]);
});
