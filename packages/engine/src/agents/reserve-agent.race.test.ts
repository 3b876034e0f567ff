import { agentGoalSchema, limitsSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { forkRun, requestCancel, submitRun } from '../commands/index.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, readStep } from '../log/index.ts';
import { listAgents, listRuns, listSteps } from '../queries/index.ts';
import { appendWithTask, beginTask } from '../tasks/begin-task.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { reserveAgent } from './tree-limits.ts';

const engine = useTestEngine({ fresh: true });

const held = { args: { effect: 'external' } };
const agent = { args: { effect: 'read', agent: { groups: [{ steps: [{ tool: 'count', ...held }] }] } } };
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const agentsBeneath = async (runId: string) => (await runOf(runId)).agents_total?.used.agents ?? 0;
const isSound = async () => {
  for (const { id } of (await listRuns(engine.deps, {}, { limit: 100 })).items) await soundLog(engine.deps, id);
};

/** A run whose sub-agents all wait for a person. */
async function waitingTree(agents: number, limits: object) {
  const { deps } = inMemoryWorker(engine);
  const spec = { ...specOf([Array.from({ length: agents }, () => agent)]), limits: limitsSchema.parse(limits) };
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  return { deps, runId, children: await listAgents(deps, await runOf(runId)) };
}

/** The call of a run that waits for a person. */
const stepOf = async (deps: InMemoryWorker['deps'], run: RunState) => {
  const found = await readStep(deps.redis, run.id, run.turn_steps[0] ?? '');
  if (!found) throw new Error('the run has no step');
  return found.step;
};

/** A step of a run begins a sub-agent, as the handler of the step does it. */
async function beginAgent(deps: InMemoryWorker['deps'], runId: string) {
  const run = await readRun(deps.redis, runId);
  if (!run) throw new Error('there is no such run');
  const goal = agentGoalSchema.parse(specOf([[held]]).goal);
  const asked = { kind: 'agent' as const, title: 'one more', spec: { goal } };
  const created = await beginTask(deps, await stepOf(deps, run), deps.newId('task'), asked);
  return appendWithTask(deps, run, created, { if: [], events: [created] });
}

test('of sub-agents that are reserved at the same moment, each twice, no more are granted than are left', async () => {
  const { deps, runId, children } = await waitingTree(4, { max_agents: 6 });
  const refused = await Promise.all(
    children.flatMap((child) => {
      const step = deps.newId('step');
      return [reserveAgent(deps, child, step), reserveAgent(deps, child, step)];
    }),
  );
  expect(refused.filter((problem) => problem === undefined)).toHaveLength(4);
  expect(refused.filter((problem) => problem?.code === 'ETOOMANYAGENTS')).toHaveLength(4);
  expect(await agentsBeneath(runId)).toBe(2);
  await isSound();
});

/** The same deps, with something that happens right before their first append. */
function withFirst(deps: InMemoryWorker['deps'], first: () => Promise<unknown>): InMemoryWorker['deps'] {
  let isDone = false;
  const redis = new Proxy(deps.redis, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        if (key === 'evalsha' && !isDone) {
          isDone = true;
          await first();
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { ...deps, redis };
}

test.each(['the sub-agent', 'the run'])(
  'a run and its sub-agent do not both begin the last one: %s is faster',
  async (faster) => {
    const { deps, runId, children } = await waitingTree(1, { max_agents: 2 });
    const childId = children[0]?.id ?? '';
    const [first, second] = faster === 'the run' ? [runId, childId] : [childId, runId];
    const begun: object[] = [];
    const slow = withFirst(deps, async () => begun.push(await beginAgent(deps, first)));
    begun.push(await beginAgent(slow, second));
    expect(begun).toMatchObject([{ ok: true }, { full: { code: 'ETOOMANYAGENTS' } }]);
    await deliverAll(deps);
    expect((await runOf(runId)).agents + (await agentsBeneath(runId))).toBe(2);
    await isSound();
  },
);

test('a sub-agent that was reserved and never begun counts no more when the run that asked is over', async () => {
  const { deps, runId, children } = await waitingTree(2, { max_agents: 4 });
  const [child] = children;
  if (!child) throw new Error('no sub-agent began');
  expect(await reserveAgent(deps, child, deps.newId('step'))).toBeUndefined();
  expect(await agentsBeneath(runId)).toBe(1);
  await requestCancel(deps, child.id, { by: 'ann' });
  await deliverAll(deps);
  expect(await agentsBeneath(runId)).toBe(0);
  await isSound();
});

test('a fork counts its own sub-agents, and its origin its own', async () => {
  const { deps, runId } = await waitingTree(2, { max_agents: 2 });
  await requestCancel(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const fork = await forkRun(deps, runId, { fromStep: 0, changes: {}, by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(fork.runId)).toMatchObject({ status: 'waiting', agents: 2 });
  expect((await runOf(runId)).agents).toBe(2);
  await isSound();
});
