import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });
const hold = { policy: { rules: [{ match: {}, action: 'hold' as const }] } };

test('the append of a decision is sent before its wake-up', async () => {
  const { deps } = inMemoryWorker(engine);
  await submitRun(deps, { spec: specOf([[{ args: { effect: 'read' } }]], hold), by: 'sue' });
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps);
  const sent: string[] = [];
  const { evalsha } = deps.redis;
  deps.redis.evalsha = ((...given: Parameters<typeof evalsha>) => {
    sent.push('append');
    return evalsha.apply(deps.redis, given);
  }) as typeof evalsha;
  const wakeDecided: typeof deps.queues.wakeDecided = (...given) => {
    sent.push('wake-up');
    return deps.queues.wakeDecided(...given);
  };
  try {
    await decideOn({ ...deps, queues: { ...deps.queues, wakeDecided } }, view);
  } finally {
    deps.redis.evalsha = evalsha;
  }
  expect(sent.slice(0, 2)).toEqual(['append', 'wake-up']);
});
