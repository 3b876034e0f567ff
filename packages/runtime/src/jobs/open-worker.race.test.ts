import { openEngine, queueNames } from '@holdpoint/engine';
import { inMemoryWorker, listSteps, specOf, startTestEngine } from '@holdpoint/engine/testing';
import { handleTurn, lookAgain, queuePrefix, type TurnJob } from '@holdpoint/engine/worker';
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
    lookAgain: lookAgain.turn,
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
