import { expect, test } from 'vitest';
import { requestPause } from '../../commands/steer-run.ts';
import { submitRun } from '../../commands/submit-run.ts';
import { undoSteps } from '../../commands/undo-run.ts';
import { stateKey } from '../../log/keys.ts';
import { readAll } from '../../log/read-state.ts';
import { deliverAll, inMemoryWorker, specOf } from '../../testing/index.ts';
import { soundLog } from '../../testing/sound-log.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { runIndexes } from './run-indexes.ts';

const engine = useTestEngine();
const write = { args: { effect: 'workspace' } };
const held = { args: { effect: 'external' } };

test('runs of format 3 get their indexes, also when a try died', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[write, write], [write], [held]]), by: 'test' });
  await deliverAll(deps);
  await requestPause(deps, runId, 'ann');
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'ann' });
  const before = await readAll(deps.redis, runId);
  const indexes = Object.keys(before).filter((name) =>
    /^(snapshots|tool_turns|settled_turns):|^(rewinds|approvals)$/.test(name),
  );
  expect(indexes).toHaveLength(5);
  await deps.redis.hdel(stateKey(runId), ...indexes);
  const sides = { redis: deps.redis, dataDir: engine.directory };
  await runIndexes.run(sides);
  await runIndexes.run(sides);
  expect(await readAll(deps.redis, runId)).toEqual(before);
  await soundLog(deps, runId);
});
