import { expect, test } from 'vitest';
import { forkRun, requestPause, requestResume, submitRun, undoSteps } from '../commands/index.ts';
import { readLog } from '../log/index.ts';
import type { PastConversation, PlannerDecision } from '../ports/index.ts';
import { listSteps } from '../queries/index.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

const said = { message: 'on', answer: {} };
const call: PlannerDecision = { ...said, kind: 'calls', calls: [{ tool: 'count', args: { effect: 'workspace' } }] };
const finish: PlannerDecision = { ...said, kind: 'finish' };
const note = { code: 'cut_off', text: 'Continue.' } as const;
const compacted = (through_turn: number): PlannerDecision => ({
  kind: 'compacted',
  compacted: {
    ...{ through_turn, how: 'summarised', summary: `up to ${through_turn}`, kept: { messages: 0 } },
    ...{ tokens_before: 90, tokens_after: 10, usage: { input_tokens: 80, output_tokens: 5 } },
  },
});

/** A model that decides these one after the other, and what it got to read before each. */
async function deciding(...decisions: PlannerDecision[]) {
  const told: PastConversation[] = [];
  const { deps: plain } = inMemoryWorker(engine);
  const deps: InMemoryWorker['deps'] = {
    ...plain,
    planners: {
      ...plain.planners,
      model: {
        async next(input) {
          told.push(await input.history());
          return decisions.shift() ?? finish;
        },
      },
    },
  };
  const goal = { planner: 'model', model: 'test/model', prompt: 'Go.' } as const;
  const { runId } = await submitRun(deps, { spec: { ...specOf([[{ args: {} }]]), goal }, by: 'test' });
  await deliverAll(deps);
  const run = async () => (await listSteps(deps, runId)).run;
  return { deps, told, runId, run };
}

test('a note is read after its answer', async () => {
  const { deps, told, runId, run } = await deciding({ ...said, kind: 'again', note }, call);
  expect(told.at(1)?.turns).toMatchObject([{ message: 'on', note, steps: [] }]);
  expect(await run()).toMatchObject({ status: 'succeeded', turn: 3 });
  await soundLog(deps, runId);
});

test('a turn that pauses the run is recorded with its usage', async () => {
  const usage = { input_tokens: 7, output_tokens: 1 };
  const reason = { code: 'model_silent', message: 'The model said nothing.' };
  const { deps, told, runId, run } = await deciding({ ...said, kind: 'pause', note, reason, usage });
  expect(await run()).toMatchObject({ status: 'paused', reason, turn: 1, input_tokens: 7 });
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(told.at(-1)?.turns).toMatchObject([{ note }]);
  expect((await run()).status).toBe('succeeded');
  await soundLog(deps, runId);
});

test('a compaction counts from the next question on, and its tokens count', async () => {
  const { deps, told, runId, run } = await deciding(call, call, compacted(1), call);
  expect(told.map(({ compacted: one }) => one?.summary)).toEqual([
    undefined,
    undefined,
    undefined,
    'up to 1',
    'up to 1',
  ]);
  expect(await run()).toMatchObject({ status: 'succeeded', turn: 4, input_tokens: 80 });
  expect((await readLog(deps.redis, runId)).map(({ type }) => type)).toContain('context.compacted');
  await soundLog(deps, runId);
});

test('an undo and a fork go behind a compaction', async () => {
  const { deps, told, runId } = await deciding(call, call, call, compacted(2), {
    ...said,
    kind: 'pause',
    reason: { code: 'x', message: 'x' },
  });
  const early = await forkRun(deps, runId, { fromStep: 1, changes: {}, by: 'ann' });
  await deliverAll(deps);
  expect(told.at(-1)).toMatchObject({ turns: [{ turn: 1 }] });
  expect(told.at(-1)?.compacted).toBeUndefined();
  const late = await forkRun(deps, runId, { fromStep: 3, changes: {}, by: 'ann' });
  await deliverAll(deps);
  expect(told.at(-1)?.compacted?.summary).toBe('up to 2');
  await requestPause(deps, runId, 'ann').catch(() => undefined);
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'ann' });
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(told.at(-1)?.turns).toHaveLength(1);
  expect(told.at(-1)?.compacted).toBeUndefined();
  for (const id of [runId, early.runId, late.runId]) await soundLog(deps, id);
});

test('instructions are written once, and a fork writes its own', async () => {
  const instructed = { system: 'You are careful.', files: [{ path: 'AGENTS.md', bytes: 5 }], environment: {} };
  const { deps, told, runId } = await deciding({ kind: 'instructed', instructed }, call);
  expect(told.at(0)?.instructed).toBeUndefined();
  expect(told.at(2)?.instructed).toEqual(instructed);
  await forkRun(deps, runId, { fromStep: 1, changes: {}, by: 'ann' });
  await deliverAll(deps);
  expect(told.at(-1)?.instructed).toBeUndefined();
  await soundLog(deps, runId);
});
