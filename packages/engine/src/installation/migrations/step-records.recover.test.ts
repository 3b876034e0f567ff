import { expect, test } from 'vitest';
import { requestPause } from '../../commands/steer-run.ts';
import { submitRun } from '../../commands/submit-run.ts';
import { undoSteps } from '../../commands/undo-run.ts';
import { stateKey } from '../../log/keys.ts';
import { readAll } from '../../log/read-state.ts';
import type { Planner } from '../../ports/index.ts';
import { asFormat1 } from '../../testing/as-format-1.ts';
import { deliverAll, inMemoryWorker, specOf } from '../../testing/index.ts';
import { soundLog } from '../../testing/sound-log.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { stepRecords } from './step-records.ts';

const engine = useTestEngine();
const write = { args: { effect: 'workspace' } };

test('states of format 1 are made again from their logs, also when a try died', async () => {
  const { deps } = inMemoryWorker(engine);
  const { scripted } = deps.planners;
  const pausing: Planner = {
    async next(input, signal) {
      if (input.turn === 3) await requestPause(deps, input.runId, 'ann');
      return scripted.next(input, signal);
    },
  };
  const spec = specOf([[write, write], [write], [write]]);
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll({ ...deps, planners: { ...deps.planners, scripted: pausing } });
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'ann' });
  const held = await submitRun(deps, {
    spec: specOf([[write]], { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] } }),
    by: 'test',
  });
  await deliverAll(deps);
  const runs = [runId, held.runId];
  const before = await Promise.all(runs.map((id) => readAll(deps.redis, id)));
  for (const [at, id] of runs.entries()) {
    await deps.redis.del(stateKey(id));
    await deps.redis.hset(stateKey(id), asFormat1(before[at] ?? {}));
  }
  const sides = { redis: deps.redis, dataDir: engine.directory };
  await stepRecords.run(sides);
  await stepRecords.run(sides);
  for (const [at, id] of runs.entries()) {
    expect(await readAll(deps.redis, id)).toEqual(before[at]);
    await soundLog(deps, id);
  }
});
