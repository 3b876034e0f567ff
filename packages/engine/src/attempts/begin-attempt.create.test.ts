import { setImmediate as endOfIteration } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { readLog } from '../log/index.ts';
import type { ExecutionContext } from '../ports/index.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();
const read = () => [{ args: { effect: 'read' } }];

/** A run of calls that only read. Each acts first. */
async function run(count: number, act: (hasStarted: () => Promise<boolean>) => Promise<void>): Promise<void> {
  const { deps } = inMemoryWorker(engine);
  const isStarted = async ({ runId, stepId }: ExecutionContext): Promise<boolean> =>
    (await readLog(deps.redis, runId)).some((event) => event.type === 'step.started' && event.step_id === stepId);
  const executor: typeof deps.executor = {
    ...deps.executor,
    async execute(call, context) {
      await act(() => isStarted(context));
      return deps.executor.execute(call, context);
    },
  };
  const spec = specOf(Array.from({ length: count }, read));
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll({ ...deps, executor });
  const ends = (await soundLog(deps, runId)).filter(({ type }) => type === 'step.succeeded');
  expect(ends).toHaveLength(count);
}

test('the start of a call that only reads and ends soon is recorded with its outcome', async () => {
  const started: boolean[] = [];
  await run(20, async (hasStarted) => {
    await endOfIteration();
    await endOfIteration();
    started.push(await hasStarted());
  });
  // On a busy machine some are not soon.
  expect(started).toContain(false);
});

test('the start of a call that only reads and takes longer is recorded while it runs', async () => {
  await run(2, async (hasStarted) => {
    while (!(await hasStarted())) await endOfIteration();
  });
});
