import { type Json, limitsSchema, type RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { requestResume, submitRun } from '../commands/index.ts';
import { readTasks } from '../log/index.ts';
import type { Planner, PlannerDecision, PlannerInput } from '../ports/index.ts';
import { listRuns, listSteps } from '../queries/index.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

const perTurn = { input_tokens: 10, output_tokens: 5, cost_micros: 600 };
const tokensPerTurn = perTurn.input_tokens + perTurn.output_tokens;
const model = 'test/model';
const finish: PlannerDecision = { kind: 'finish', message: 'done', answer: {}, usage: perTurn };
const calls = (...all: Json[]): PlannerDecision => ({
  ...{ kind: 'calls', message: 'on', answer: {}, usage: perTurn },
  calls: all.map((args) => ({ tool: 'count', args })),
});
const read = { effect: 'read' };
const asks = { effect: 'read', asks: model };
/** A call that is never the same twice. */
const work = ({ turn }: PlannerInput) => calls({ effect: 'workspace', turn });

/** A run of a model whose sub-agents are asked by the same function. */
async function modelRun(next: (input: PlannerInput) => PlannerDecision, limits: object, more: Partial<RunSpec> = {}) {
  const made = inMemoryWorker(engine);
  const planner: Planner = { next: async (input) => next(input) };
  const deps: InMemoryWorker['deps'] = { ...made.deps, planners: { ...made.deps.planners, model: planner } };
  const spec: RunSpec = {
    ...specOf([[{ args: { effect: 'read' } }]]),
    goal: { planner: 'model', model, prompt: 'root' },
    limits: limitsSchema.parse(limits),
    ...more,
  };
  return { ...made, deps, runId: (await submitRun(deps, { spec, by: 'test' })).runId };
}

const isRoot = ({ spec }: PlannerInput) => spec.goal.planner === 'model' && spec.goal.prompt === 'root';
const allRuns = async () => (await listRuns(engine.deps, {}, { limit: 200 })).items;
const sumOf = async (of: (run: Awaited<ReturnType<typeof allRuns>>[number]) => number) =>
  (await allRuns()).reduce((sum, run) => sum + of(run), 0);
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const isSound = async () => {
  for (const { id } of await allRuns()) await soundLog(engine.deps, id);
};

const shapes: [string, (input: PlannerInput) => PlannerDecision][] = [
  ['four at once', (input) => (isRoot(input) ? calls(asks, asks, asks, asks) : work(input))],
  [
    'one after the other',
    (input) => (isRoot(input) ? calls({ ...asks, n: input.turn }) : input.turn > 2 ? finish : work(input)),
  ],
  [
    'sub-agents of sub-agents',
    (input) => (isRoot(input) || input.turn === 1 ? calls({ ...asks, n: input.turn }) : work(input)),
  ],
];

test.each(shapes)('tokens are counted over the tree: %s', async (_, next) => {
  const { deps, runId } = await modelRun(next, { max_tokens: 100, max_depth: 4, max_turns: 50 });
  await deliverAll(deps);
  const spent = await sumOf((run) => run.input_tokens + run.output_tokens);
  expect(spent).toBeGreaterThanOrEqual(100);
  // Deliveries are one at a time, so one turn at most was in flight.
  expect(spent).toBeLessThan(100 + tokensPerTurn);
  const all = await allRuns();
  expect(all.some((run) => run.status === 'paused' && run.reason?.code === 'max_tokens')).toBe(true);
  expect(['paused', 'waiting']).toContain((await runOf(runId)).status);
  await isSound();

  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const more = await sumOf((run) => run.input_tokens + run.output_tokens);
  expect(more).toBeGreaterThanOrEqual(spent + 100);
  expect(more).toBeLessThan(spent + 100 + tokensPerTurn);
  await isSound();
});

test('a model that asks for more calls than a turn may have gets an answer to each, and the rest is no step', async () => {
  const { deps, runId, executions } = await modelRun(
    ({ turn }) => (turn > 1 ? finish : calls(...Array.from({ length: 3000 }, (_, n) => ({ effect: 'read', n })))),
    {},
  );
  await deliverAll(deps);
  expect(executions).toHaveLength(64);
  expect((await listSteps(deps, runId)).steps).toHaveLength(64);
  await isSound();
});

test('max_steps cuts a turn of a model', async () => {
  const { deps, runId, executions } = await modelRun(
    ({ turn }) => calls(...Array.from({ length: 40 }, (_, n) => ({ effect: 'read', n, turn }))),
    { max_steps: 5 },
  );
  await deliverAll(deps);
  expect(executions).toHaveLength(5);
  expect(await runOf(runId)).toMatchObject({ status: 'paused', steps: 5, reason: { code: 'max_steps' } });
  await isSound();
});

test('a sub-agent asks no model that its run does not name', async () => {
  const asked: string[] = [];
  const { deps, runId } = await modelRun((input) => {
    if (input.spec.goal.planner === 'model') asked.push(input.spec.goal.model);
    if (!isRoot(input) || input.turn > 1) return finish;
    return calls(asks, { ...asks, asks: 'other/model' });
  }, {});
  await deliverAll(deps);
  expect(new Set(asked)).toEqual(new Set([model]));
  const { steps } = await listSteps(deps, runId);
  expect(steps.map(({ status, outcome }) => [status, outcome?.error?.code])).toEqual([
    ['succeeded', undefined],
    ['failed', 'EMODELNOTALLOWED'],
  ]);
  expect(steps[1]?.outcome?.error?.message).toContain(model);
  expect(await readTasks(engine.deps.redis, runId)).toHaveLength(1);
  await isSound();
});

test('a group of a plan that passes max_steps waits for a resume, and the plan of a sub-agent as well', async () => {
  const group = (steps: number) => ({ steps: Array.from({ length: steps }, () => ({ tool: 'count', args: read })) });
  const plan = { groups: [group(2), group(6)] };
  const { deps, runId, executions } = await modelRun(
    ({ turn }) => (turn > 1 ? finish : calls({ effect: 'read', agent: plan })),
    { max_steps: 5 },
  );
  await deliverAll(deps);
  // The call that begins the sub-agent, and its first group.
  expect((await runOf(runId)).agents_total).toMatchObject({ used: { steps: 2 }, paused: 1 });
  expect((await runOf(runId)).agents_total?.blocker?.reason.code).toBe('max_steps');
  const before = executions.length;
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ steps: 1, agents_total: { used: { steps: 8 } } });
  expect(executions.length).toBeGreaterThan(before + 5);
  await isSound();
});

test('time in which sub-agents work counts for a run that waits for a person itself', async () => {
  let clock = Date.now();
  let turns = 0;
  const { deps, runId } = await modelRun(
    (input) => {
      const aside = { ...asks, beside: true };
      if (isRoot(input)) return input.turn === 1 ? calls(aside, { ...aside, n: 2 }) : calls({ effect: 'external' });
      clock += 4000;
      turns += 1;
      return work(input);
    },
    { wall_s: 10 },
  );
  const timed: InMemoryWorker['deps'] = { ...deps, now: () => clock };
  await deliverAll(timed);
  // Alone, each of the two sub-agents could take three turns of four seconds; together they are stopped by the limit of the run above.
  expect(turns).toBeLessThanOrEqual(4);
  const reasons = (await allRuns()).filter(({ id }) => id !== runId).map(({ reason }) => reason);
  expect(reasons.map((reason) => reason?.code)).toEqual(['wall_s', 'wall_s']);
  expect(reasons.some((reason) => reason?.message.includes(runId))).toBe(true);
  expect((await runOf(runId)).agents_total?.used.wall_ms).toBeGreaterThanOrEqual(10_000);
  await isSound();
});

test('sub-agents of sub-agents that always begin one more are stopped by the seconds of the root', async () => {
  let clock = Date.now();
  let turns = 0;
  const { deps, runId } = await modelRun(
    (input) => {
      if (!isRoot(input)) {
        clock += 4000;
        turns += 1;
      }
      return calls({ ...asks, n: input.turn });
    },
    { wall_s: 10, max_depth: 5 },
  );
  await deliverAll({ ...deps, now: () => clock });
  // Each is a sub-agent of the one before, and none of them alone takes more than one turn of four seconds.
  expect(turns).toBe(3);
  const all = await allRuns();
  expect(Math.max(...all.map(({ parent }) => parent?.depth ?? 0))).toBe(3);
  expect(all.flatMap(({ status, reason }) => (status === 'paused' ? [reason?.code] : []))).toEqual(['wall_s']);
  expect(['running', 'waiting']).toContain((await runOf(runId)).status);
  await isSound();
});
