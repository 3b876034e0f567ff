import { expect, test } from 'vitest';
import { bash, finished, plan, readiness, until, useSystem } from '../harness/index.ts';

const system = useSystem();

test('kill -9 of Redis under load loses no acknowledged run and no acknowledged event', async () => {
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
  await until('the API is unavailable', async () => (await readiness(client)) === 'unavailable');
  await system.redis.start();
  const before = acknowledged.length;
  await until('the API accepts runs again', () => acknowledged.length > before + 2);
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
