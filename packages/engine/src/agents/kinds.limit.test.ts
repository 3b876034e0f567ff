import { type AgentKind, type Json, limitsSchema, type RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { readSpec, readTasks } from '../log/index.ts';
import type { FoundKinds, PlannerDecision, PlannerInput } from '../ports/index.ts';
import { listRuns, listSteps } from '../queries/index.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

const model = 'test/model';
const usage = { input_tokens: 10, output_tokens: 5 };
const finish: PlannerDecision = { kind: 'finish', message: 'done', answer: {}, usage };
const calls = (...all: { tool?: string; args: Json }[]): PlannerDecision => ({
  ...{ kind: 'calls', message: 'on', answer: {}, usage },
  calls: all.map(({ tool = 'count', args }) => ({ tool, args })),
});
/** A call that begins a sub-agent of a kind. */
const task = (kind: string, asks = '') => ({ args: { effect: 'read', asks, kind } });
const work = ({ turn }: PlannerInput) => calls({ args: { effect: 'workspace', turn } });
const kindOf = (name: string, more: Partial<AgentKind> = {}): AgentKind => ({
  ...{
    name,
    origin: 'workspace',
    file: `.holdpoint/agents/${name}.md`,
    description: name,
    instructions: `Be ${name}.`,
  },
  ...more,
});

async function modelRun(
  kinds: readonly AgentKind[],
  next: (input: PlannerInput) => PlannerDecision,
  { listed = [], ...more }: Partial<RunSpec> & Partial<FoundKinds> = {},
) {
  const made = inMemoryWorker(engine);
  const asked: (string | undefined)[] = [];
  const deps: InMemoryWorker['deps'] = {
    ...made.deps,
    agentKinds: {
      async find({ base }) {
        asked.push(base);
        return { kinds, listed };
      },
    },
    planners: { ...made.deps.planners, model: { next: async (input) => next(input) } },
  };
  const spec: RunSpec = {
    ...specOf([[{ args: { effect: 'read' } }]]),
    goal: { planner: 'model', model, prompt: 'root' },
    ...more,
  };
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  return { ...made, deps, runId, asked };
}

const isRoot = ({ spec }: PlannerInput) => spec.goal.planner === 'model' && spec.goal.prompt === 'root';
const stateOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const errorsOf = async (runId = '') => (await listSteps(engine.deps, runId)).steps.map(({ outcome }) => outcome?.error);
const childOf = async (runId: string) => (await readTasks(engine.deps.redis, runId))[0]?.about.child ?? '';
const isSound = async () => {
  for (const { id } of (await listRuns(engine.deps, {}, { limit: 50 })).items) await soundLog(engine.deps, id);
};

test('a kind narrows its sub-agent and all beneath it, and widens nothing', async () => {
  const reader = kindOf('reader', {
    tools: ['look'],
    permissions: ['fs:read', 'net:*'],
    modes: { read_only: false },
    limits: { max_steps: 7, max_tokens: 1_000_000, max_depth: 5 },
  });
  const wide = kindOf('wide', { tools: ['count', 'look'], permissions: ['fs:write', 'exec:*'] });
  const limits = limitsSchema.parse({ max_tokens: 500, max_depth: 3 });
  const { runId, asked } = await modelRun(
    [reader, wide],
    (input) => {
      if (input.turn > 1) return finish;
      return isRoot(input) ? calls(task('reader')) : calls({ args: { effect: 'workspace' } }, task('wide'));
    },
    { permissions: ['fs:read', 'fs:write', 'exec:git'], limits },
  );
  const child = await childOf(runId);
  const spec = await readSpec(engine.deps, await stateOf(child));
  expect(spec).toMatchObject({
    agent: { name: 'reader', origin: 'workspace', file: '.holdpoint/agents/reader.md' },
    goal: { model, system: 'Be reader.', prompt: 'sub' },
    tools: ['look'],
    permissions: ['fs:read'],
    limits: { max_steps: 7, max_tokens: 500, max_depth: 3 },
  });
  // Neither a write nor one more sub-agent is among its tools.
  expect((await errorsOf(child)).map((error) => [error?.code, error?.next])).toEqual(
    Array(2).fill(['EPERMISSION', expect.stringContaining('It has look.')]),
  );
  expect((await readTasks(engine.deps.redis, runId))[0]?.about).toMatchObject({ agent: 'reader' });
  expect(new Set(asked)).toEqual(new Set([(await stateOf(runId)).base]));
  expect(await stateOf(runId)).toMatchObject({ status: 'succeeded' });
  await isSound();
});

test('a limit of the kind ends its sub-agent as failed, and no person is needed', async () => {
  const kinds = [kindOf('short', { limits: { max_turns: 3 } }), kindOf('cheap', { limits: { max_tokens: 40 } })];
  const { runId } = await modelRun(kinds, (input) => {
    if (!isRoot(input)) return work(input);
    return input.turn > 1 ? finish : calls(task('short'), task('cheap'));
  });
  expect(await stateOf(runId)).toMatchObject({ status: 'succeeded', agents_total: { paused: 0 } });
  const tasks = await readTasks(engine.deps.redis, runId);
  expect(tasks.map(({ status, about, outcome }) => [about.agent, status, outcome?.reason?.code])).toEqual(
    expect.arrayContaining([
      ['short', 'failed', 'max_turns'],
      ['cheap', 'failed', 'max_tokens'],
    ]),
  );
  await isSound();
});

test('a limit of the run above pauses a sub-agent with a kind that has more', async () => {
  const { runId } = await modelRun(
    [kindOf('cheap', { limits: { max_tokens: 10_000 } })],
    (input) => (isRoot(input) ? calls(task('cheap')) : work(input)),
    { limits: limitsSchema.parse({ max_tokens: 100 }) },
  );
  expect(await stateOf(runId)).toMatchObject({ status: 'waiting', agents_total: { paused: 1 } });
  expect(await stateOf(await childOf(runId))).toMatchObject({ status: 'paused', reason: { code: 'max_tokens' } });
  await isSound();
});

test("the operator's kind may name a model of its own, and one of the workspace may not", async () => {
  const used: string[] = [];
  const { runId } = await modelRun(
    [
      kindOf('theirs', { model: 'dear/model' }),
      kindOf('ours', { model: 'other/model', origin: 'operator' }),
      kindOf('same', { model }),
    ],
    (input) => {
      if (input.spec.goal.planner === 'model') used.push(input.spec.goal.model);
      if (!isRoot(input) || input.turn > 1) return finish;
      return calls(task('theirs'), task('ours'), task('same'), task('ours', 'dear/model'));
    },
  );
  expect((await errorsOf(runId)).map((error) => error?.code)).toEqual([
    'EMODELNOTALLOWED',
    undefined,
    undefined,
    'EMODELNOTALLOWED',
  ]);
  expect(new Set(used)).toEqual(new Set([model, 'other/model']));
  await isSound();
});

test('an unknown kind and a document with a mistake are errors that name the others', async () => {
  const file = '.holdpoint/agents/broken.md';
  const { runId } = await modelRun(
    [kindOf('reviewer'), kindOf('tester')],
    ({ turn }) => (turn > 1 ? finish : calls(task('reviwer'), task('broken'))),
    { listed: [{ name: 'broken', origin: 'workspace', file, error: 'it has no instructions' }] },
  );
  expect(await errorsOf(runId)).toEqual([
    {
      code: 'ENOAGENT',
      message: 'There is no kind of sub-agent "reviwer".',
      next: 'The kinds: reviewer, tester. Nearest: reviewer. Or leave the kind out.',
    },
    expect.objectContaining({
      code: 'ENOAGENT',
      message: expect.stringContaining(`${file} is no kind of sub-agent: it has`),
    }),
  ]);
  expect(await readTasks(engine.deps.redis, runId)).toEqual([]);
});
