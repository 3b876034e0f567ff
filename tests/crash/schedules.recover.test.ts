import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plan, type System, startSystem } from '../harness/index.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
  await system.startWorker();
});
afterAll(() => system?.[Symbol.asyncDispose]());

const run = { plan: plan([{ tool: 'write_file', args: { path: 'a.txt', content: '{{scheduled_for}}\n' } }]) };
const period = { from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:29:00Z' };
const all = Array.from({ length: 30 }, (_, n) => `2026-03-01T00:${String(n).padStart(2, '0')}:00Z`);

/** Whether the API was killed or not answered, the truth is read from the next answer. */
const answered = <Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> => ask().catch(() => undefined);

async function runsOf(schedule: string): Promise<string[]> {
  const { data } = await system.client.listRuns({ label: `schedule:${schedule}`, limit: 100 });
  return data.map(({ labels }) => labels.scheduled_for ?? '').toSorted();
}

test.each(['queue_one', 'allow'] as const)(
  'thirty occurrences (%s) while the API is killed again and again have one run each',
  async (overlap) => {
    const name = overlap.replace('_', '-');
    await system.client.putSchedule(name, { cron: '* * * * *', run });
    await system.client.pauseSchedule(name);
    await system.client.backfillSchedule(name, { ...period, overlap });
    for (let kill = 0; kill < 6; kill++) {
      await delay(50 + kill * 130);
      await system.api.kill();
      await system.api.start();
    }
    await expect
      .poll(async () => (await answered(() => system.client.getSchedule(name)))?.waiting, { timeout: 240_000 })
      .toBe(0);
    expect(await runsOf(name)).toEqual(all);
    const occurrences = await system.client.listOccurrences(name, { limit: 200 });
    expect(occurrences.map(({ outcome }) => outcome)).toEqual(all.map(() => 'submitted'));
    expect(new Set(occurrences.map(({ run_id }) => run_id)).size).toBe(all.length);
  },
  300_000,
);
