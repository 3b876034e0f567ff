import { ApiError } from '@holdpoint/client/errors';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bash, finished, plan } from '../harness/runs.ts';
import { type System, startSystem } from '../harness/system.ts';
import { until } from '../harness/until.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
  await system.startWorker();
});
afterAll(() => system[Symbol.asyncDispose]());

test('kill -9 of Redis under load: every acknowledged run is there, and completes; no acknowledged event is lost', async () => {
  const { client } = system;
  const acknowledged: string[] = [];
  const lastSeen = new Map<string, number>();
  let stop = false;

  const submitting = (async () => {
    for (let index = 0; !stop; index++) {
      const { run } = await client
        .createRun({ plan: plan([bash(`echo ${index} >> counter`)], [bash('cat counter')]) })
        .catch(() => ({ run: undefined }));
      if (run) acknowledged.push(run.id);
    }
  })();
  const watching = (async () => {
    while (!stop) {
      const runs = await client.listRuns({ limit: 50 }).catch(() => undefined);
      for (const run of runs?.data ?? []) lastSeen.set(run.id, Math.max(run.seq, lastSeen.get(run.id) ?? 0));
    }
  })();

  await until('work is under way', () => acknowledged.length >= 5 && lastSeen.size >= 5);
  await system.redis.kill();
  await until('the API says that it cannot', () =>
    client.ready().then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.code === 'unavailable',
    ),
  );
  await system.redis.start();
  const sofar = acknowledged.length;
  await until('the API accepts runs again', () => acknowledged.length > sofar + 2);
  stop = true;
  await Promise.all([submitting, watching]);

  for (const id of acknowledged) {
    const run = await finished(client, id);
    expect(run, `run ${id}`).toMatchObject({ status: 'succeeded' });
    const events = (await client.listEvents(id, { limit: 500 })).data;
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.length).toBeGreaterThanOrEqual(lastSeen.get(id) ?? 0);
    const counters = (await client.listSteps(id)).data.map((step) => step.status);
    expect(counters).toEqual(['succeeded', 'succeeded']);
  }
});
