import { setTimeout } from 'node:timers/promises';
import { openEngine, queueNames } from '@holdpoint/engine';
import { inMemoryWorker, listSteps, specOf, startTestEngine } from '@holdpoint/engine/testing';
import { abortReason, handleTurn, queuePrefix, type TurnJob, wakeMissed } from '@holdpoint/engine/worker';
import { expect, test } from 'vitest';
import { openWorker } from './open-worker.ts';

test('a run that is resumed between the end of its job and the removal of the job gets another', async () => {
  const engine = await startTestEngine();
  const { deps } = inMemoryWorker(engine);
  const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
  const { runId } = await runs.submit({ spec: specOf([[{ args: { effect: 'read' } }]]) });
  await runs.pause(runId);
  let taken = 0;
  const planned = Promise.withResolvers<void>();
  const kind = {
    wakeMissed: wakeMissed.turn,
    async handle(...job: Parameters<typeof handleTurn>) {
      const end = await handleTurn(...job);
      taken += 1;
      // BullMQ has the job until this handler has returned, so the wake-up of the resume is ignored.
      if (taken === 1) await runs.resume(runId, {});
      else planned.resolve();
      return end;
    },
  };
  const connection = deps.redis.duplicate({ maxRetriesPerRequest: null });
  const turns = openWorker<TurnJob>(deps, queueNames.turns, kind, { connection, prefix: queuePrefix });
  try {
    await planned.promise;
    expect((await listSteps(deps, runId)).steps.map(({ status }) => status)).toEqual(['queued']);
  } finally {
    await turns.worker.close();
    await turns.looked();
    connection.disconnect();
    await engine.stop();
  }
});

test('a job that comes again to its worker begins when its handler has left, and keeps its lock', async () => {
  const engine = await startTestEngine();
  const { deps } = inMemoryWorker(engine);
  const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
  await runs.submit({ spec: specOf([[{ args: { effect: 'read' } }]]) });
  const begun: number[] = [];
  const reasons: unknown[] = [];
  const held = Promise.withResolvers<void>();
  let inside = 0;
  const lockMs = 400;
  const kind = {
    wakeMissed: async () => {},
    async handle(_deps: unknown, _data: TurnJob, { signal }: Parameters<typeof handleTurn>[2]) {
      begun.push(++inside);
      if (begun.length === 1) {
        const [job] = turns.running;
        await deps.redis.del(turns.worker.toKey(`${job?.id}:lock`));
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reasons.push(abortReason(signal));
        // What it still does after the abort.
        await setTimeout(3 * lockMs);
      } else {
        await setTimeout(5 * lockMs);
        held.resolve();
      }
      inside -= 1;
      return { kind: 'done' } as const;
    },
  };
  const connection = deps.redis.duplicate({ maxRetriesPerRequest: null });
  const options = { connection, prefix: queuePrefix, lockDuration: lockMs, stalledInterval: 100, maxStalledCount: 100 };
  const turns = openWorker<TurnJob>(deps, queueNames.turns, kind, { ...options, concurrency: 3 });
  // The handler of the lost job ends with an error of the queue.
  turns.worker.on('error', () => {});
  try {
    await held.promise;
    expect(begun).toEqual([1, 1]);
    expect(reasons).toEqual(['lock-lost']);
  } finally {
    await turns.worker.close();
    connection.disconnect();
    await engine.stop();
  }
});
