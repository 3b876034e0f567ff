import type { Client } from '@holdpoint/client';
import { expect, test } from 'vitest';
import { bash, finished, plan, succeed, useSystem } from '../harness/index.ts';

const places = 3;
const runs = 40;
const steps = 5;
const system = useSystem({ env: () => ({ HOLDPOINT_WORKER_STEPS: '2', HOLDPOINT_WORKER_RUNS: String(places) }) });
const { client } = system;

const steady = plan(...Array.from({ length: steps }, (_, n) => [bash(`echo ${n} >> log`)]));

interface Span {
  from: number;
  to: number;
}

/** When a run was in progress. */
async function spanOf(client: Client, id: string): Promise<Span> {
  const { started_at, ended_at } = await client.getRun(id);
  return { from: Date.parse(started_at ?? ''), to: Date.parse(ended_at ?? '') };
}

const mostAtOnce = (spans: readonly Span[]): number =>
  Math.max(...spans.map(({ from }) => spans.filter((one) => one.from <= from && from < one.to).length));

test('a crowd goes through few places: its first run ends early, a short run passes it, and a low one ends', async () => {
  const low = await client.createRun({ plan: steady, priority: 'low' });
  const crowd = await Promise.all(Array.from({ length: runs }, () => client.createRun({ plan: steady })));
  const first = await Promise.any(crowd.map(({ run }) => finished(client, run.id)));
  expect(first.status).toBe('succeeded');

  await succeed(client, { plan: plan([bash('echo short')]) });
  const after = await Promise.all(crowd.map(({ run }) => client.getRun(run.id)));
  expect(after.filter(({ status }) => status === 'queued').length).toBeGreaterThan(runs / 2);

  const all = [...crowd, low].map(({ run }) => run.id);
  for (const id of all)
    expect(await client.waitForRun(id, { signal: AbortSignal.timeout(240_000) })).toMatchObject({
      status: 'succeeded',
    });
  // The short run may have a place beside them.
  const spans = await Promise.all(all.map((id) => spanOf(client, id)));
  expect(mostAtOnce(spans)).toBeLessThanOrEqual(places);

  const firstEnd = Math.min(...spans.map(({ to }) => to));
  const ends = (await Promise.all(all.map((id) => client.listSteps(id)))).flatMap(({ data }) =>
    data.map(({ settled_at }) => Date.parse(settled_at ?? '')),
  );
  expect(ends).toHaveLength((runs + 1) * steps);
  expect(ends.filter((at) => at <= firstEnd).length).toBeLessThanOrEqual((runs * steps) / 10);
}, 300_000);
