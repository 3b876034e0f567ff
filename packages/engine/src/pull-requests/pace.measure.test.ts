import { expect, test } from 'vitest';
import { deliverAll } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import * as pace from './pace.ts';
import { person } from './testing/code-host.ts';
import { followedRun } from './testing/followed-run.ts';

const engine = useTestEngine();
const minuteMs = 60_000;

test('looks at a quiet pull request get rarer, after a day once in an hour', () => {
  const at = (quiet: number, published: number, hookedAt?: number) =>
    Math.round(
      pace.nextLook(
        {
          ...{ run_id: 'run', branch: 'refs/heads/b', commit: 'c', number: 1, url: 'https://x/1', status: 'open' },
          ...{ rounds: 0, heard: [], answers: [], quiet, published_at: new Date(published).toISOString() },
          target: { provider: 'github', api: 'https://x', repository: 'o/r', secret: 'T', title: 't' },
        },
        { hookedAt },
        0,
      ) / 1000,
    );
  expect([0, 1, 2, 5, 20, 1000].map((quiet) => at(quiet, 0))).toEqual([30, 45, 68, 228, 900, 900]);
  expect(at(20, -25 * 60 * minuteMs)).toBe(3600);
  expect([at(0, 0, -1), at(1, 0, -1), at(1, 0, -8 * 24 * 60 * minuteMs)]).toEqual([30, 3600, 45]);
});

test('a run whose publish waits for a decision for days is not looked at four times in a minute', () => {
  expect([1, 3, 10, 1000].map((quiet) => Math.round(pace.busyLook({ quiet }, 0) / 1000))).toEqual([23, 51, 300, 300]);
});

test('webhooks of strangers cause ever fewer looks, and a webhook never puts a look off', async () => {
  const { store, look, host, runId, deps } = await followedRun(engine);
  const hooked = () => store.hasten(runId, deps.now() - 365 * 24 * 60 * minuteMs, 'hook');
  const looked = async () => Date.parse((await store.find(runId))?.state.looked_at ?? '');
  const waits: number[] = [];
  for (let n = 0; n < 7; n++) {
    host.comment(`stranger ${n}`, person('eve'));
    await look();
    const due = await hooked();
    waits.push(((due ?? 0) - (await looked())) / 1000);
    expect(await store.dueAt(runId)).toBe(due);
  }
  expect(waits).toEqual([4, 8, 16, 32, 60, 60, 60]);
  const due = await store.dueAt(runId);
  await store.hasten(runId, (due ?? 0) + minuteMs, 'hook');
  expect(await store.dueAt(runId)).toBe(due);
  const after = await store.find(runId);
  if (after === undefined) throw new Error('no pull request is followed');
  await hooked();
  // The look has more to do at once, when its process dies.
  await store.put({ after, state: after.state, wakeAt: 1 }, deps.now());
  expect(await store.dueAt(runId)).toBe(1);
  await deliverAll(deps);
});

test('a webhook that comes during each look has the pull request looked at again, ever later', async () => {
  const { store, look, host, runId, deps } = await followedRun(engine);
  host.around = async (name, send) => {
    if (name === 'news') await store.hasten(runId, deps.now(), 'hook');
    return send();
  };
  const waits: number[] = [];
  for (let n = 0; n < 6; n++) {
    await look();
    const { state } = (await store.find(runId)) ?? {};
    waits.push(Math.round(((await store.dueAt(runId)) ?? 0) - Date.parse(state?.looked_at ?? '')) / 1000);
  }
  expect(waits.map(Math.round)).toEqual([4, 8, 16, 32, 60, 60]);
});

test('a pull request that is over takes no hook, until a publish opens another one', async () => {
  const { store, look, host, publish, runId } = await followedRun(engine);
  const listed = async () => (await store.ofRepository('Owner/Project')).includes(runId);
  expect(await listed()).toBe(true);
  host.news = { ...host.news, status: 'closed' };
  await look();
  expect(await listed()).toBe(false);
  host.news = { ...host.news, status: 'open' };
  await publish('d'.repeat(40));
  expect(await listed()).toBe(true);
});
