import type { Client } from '@holdpoint/client';
import { allScopes, installationScopes } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { type AppProcess, bash, plan, until, useSystem } from '../harness/index.ts';

const slots = 2;
const places = 3;
const system = useSystem({
  workers: 0,
  env: () => ({ HOLDPOINT_WORKER_STEPS: String(slots), HOLDPOINT_WORKER_RUNS: String(places) }),
});
const { client } = system;
const [runs, kills] = [24, 6];
const steps = 4;
const lines = Array.from({ length: steps }, (_, n) => String(n));

/** Its last step prints how often each of the others took effect. */
const long = plan(...lines.map((line) => [bash(`echo ${line} >> log`)]), [bash('cat log', 'last')]);
const short = plan([bash('echo 0 >> log; cat log', 'last')]);

async function outputOf(caller: Client, runId: string): Promise<unknown> {
  const last = (await caller.listSteps(runId)).data.at(-1);
  return ((await caller.getStep(last?.id ?? '')).result as { stdout?: unknown }).stdout;
}

test('a crowd whose workers are killed again and again ends whole: no effect is doubled, and every place comes back', async () => {
  const scopes = allScopes.filter((scope) => !installationScopes.has(scope));
  const { key } = await client.createKey({ name: 'ben', kind: 'person', tenant: 'guest', scopes });
  await using guest = Object.assign(system.as(key), {
    async [Symbol.asyncDispose]() {
      await guest.close();
    },
  });
  const workers: AppProcess[] = [await system.startWorker(), await system.startWorker()];
  const all: { caller: Client; id: string; text: string }[] = [];
  for (let n = 0; n < runs; n++) {
    const caller = n % 4 === 0 ? guest : client;
    const isShort = n % 3 === 0;
    const { run } = await caller.createRun({ plan: isShort ? short : long });
    all.push({ caller, id: run.id, text: isShort ? '0\n' : `${lines.join('\n')}\n` });
  }
  const ended = async (): Promise<number> => {
    const found = await Promise.all(all.map(({ caller, id }) => caller.getRun(id)));
    return found.filter(({ status }) => status === 'succeeded').length;
  };
  for (let kill = 0; kill < kills; kill++) {
    // Spread over the life of the crowd, whatever the speed of the machine.
    await until('more runs have ended', async () => (await ended()) >= Math.floor((kill * (runs - 4)) / kills), {
      withinMs: 60_000,
    });
    await workers[kill % 2]?.signal('SIGKILL');
    workers[kill % 2] = await system.startWorker();
  }
  await Promise.all(all.map(({ caller, id }) => caller.waitForRun(id, { signal: AbortSignal.timeout(110_000) })));
  const outputs = await Promise.all(all.map(({ caller, id }) => outputOf(caller, id)));
  expect(outputs).toEqual(all.map(({ text }) => text));

  // A place that a dead worker had is looked at after three seconds when a run waits for one, else after thirty.
  const free = { working: { used: 0, of: 2 * places }, asking: { used: 0 }, waiting: 0 };
  await expect.poll(async () => (await client.stuck()).places, { timeout: 60_000, interval: 500 }).toMatchObject(free);
  const left = await client.listQueues();
  expect(left.map(({ active, backlog }) => active + backlog)).toEqual(left.map(() => 0));
}, 180_000);
