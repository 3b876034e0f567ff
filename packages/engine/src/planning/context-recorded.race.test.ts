import type { RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import type { WorkerDeps } from '../deps.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import type { Planner, PlannerDecision } from '../ports/index.ts';
import { inMemoryWorker, readLog, readRun, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });
const spec: RunSpec = { ...specOf([[{ args: {} }]]), goal: { planner: 'model', model: 'main', prompt: 'work' } };
const context = () => ({ signal: new AbortController().signal, lastTry: false });

const instructed = (system: string): PlannerDecision => ({
  kind: 'instructed',
  instructed: { system, files: [], environment: {}, window: 1000 } as never,
});
const compacted = (summary: string): PlannerDecision => ({
  kind: 'compacted',
  compacted: {
    how: 'summarised',
    through_turn: 1,
    summary,
    kept: {},
    tokens_before: 900,
    tokens_after: 100,
    window: 1000,
  } as never,
});

/** Two workers read the same run. The frozen one answers after the other has recorded its decision, and before the next turn. */
async function race(make: (by: string) => PlannerDecision) {
  const frozen = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const { deps: plain } = inMemoryWorker(engine);
  const worker = (by: string): WorkerDeps => {
    let asked = 0;
    const model: Planner = {
      async next() {
        asked += 1;
        if (asked > 1) {
          if (by === 'awake') {
            frozen.resolve();
            await late;
          }
          return { kind: 'finish', message: by, answer: by };
        }
        if (by === 'frozen') {
          read.resolve();
          await frozen.promise;
        }
        return make(by);
      },
    };
    return { ...plain, planners: { ...plain.planners, model } };
  };
  const { runId } = await submitRun(plain, { spec, by: 'test' });
  const late: Promise<unknown> = handleTurn(worker('frozen'), { run_id: runId, turn: 1 }, context()).catch(
    () => undefined,
  );
  await read.promise;
  await handleTurn(worker('awake'), { run_id: runId, turn: 1 }, context());
  return { runId, events: await readLog(plain.redis, runId) };
}

test.each([
  ['context.instructed', instructed],
  ['context.compacted', compacted],
] as const)('%s is recorded once, by the worker that came first', async (type, make) => {
  const { runId, events } = await race(make);
  expect(events.filter((event) => event.type === type)).toHaveLength(1);
  expect(await readRun(engine.deps.redis, runId)).toMatchObject({ status: 'succeeded' });
});
