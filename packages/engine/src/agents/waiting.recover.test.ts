import { limitsSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { requestCancel, requestPause, requestResume, submitRun } from '../commands/index.ts';
import type { RunState } from '../domain/index.ts';
import { repairsKey } from '../log/index.ts';
import { listAgents, listRuns, listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

type Json = z.core.util.JSONType;
const ann = { by: 'ann' };
/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 11;
const held = { args: { effect: 'external' } };
/** A call of a sub-agent whose plan has these groups of calls. */
const agent = (...groups: { args: Json }[][]) => ({
  args: {
    effect: 'read',
    agent: { groups: groups.map((steps) => ({ steps: steps.map((step) => ({ tool: 'count', ...step })) })) },
  } as Record<string, Json>,
});
const submit = async (deps: InMemoryWorker['deps'], ...groups: Parameters<typeof specOf>[0]) =>
  (await submitRun(deps, { spec: specOf(groups), by: 'test' })).runId;
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const typesOf = async (runId: string) => (await soundLog(engine.deps, runId)).map(({ type }) => type);
const agentsOf = async (runId: string) => listAgents(engine.deps, await runOf(runId));
const isSound = async () => {
  for (const { id } of (await listRuns(engine.deps, {}, { limit: 100 })).items) await soundLog(engine.deps, id);
};
const approveAll = async (deps: InMemoryWorker['deps']) => {
  for (const view of await pendingApprovals(deps)) await decideOn(deps, view);
};

test('a run waits while its only work is a sub-agent that waits, at any depth', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [agent([agent([held])])], [{ args: { effect: 'workspace' } }]);
  await deliverAll(deps);
  const [child, grandchild] = await agentsOf(runId);
  expect([child?.parent?.depth, grandchild?.parent?.depth]).toEqual([1, 2]);
  for (const { id } of [child, grandchild] as RunState[]) expect((await runOf(id)).status).toBe('waiting');
  expect(await runOf(runId)).toMatchObject({
    ...{ status: 'waiting', parked: 0 },
    agents_total: { waiting: 1, approvals: 1, paused: 0, used: { agents: 1 } },
  });
  expect((await typesOf(runId)).slice(-2)).toEqual(['task.waiting', 'run.waiting']);

  await approveAll(deps);
  // The decision is reported upwards by its command, before a worker runs.
  expect(await runOf(runId)).toMatchObject({ status: 'running', agents_total: { waiting: 0, approvals: 0 } });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', agents_total: { used: { steps: 2, agents: 1 } } });
  await isSound();
});

test('a paused sub-agent is reported with its reason; a resume above resumes it', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [agent([agent([held], [held])])]);
  await deliverAll(deps);
  const [, grandchild] = await agentsOf(runId);
  const id = grandchild?.id ?? '';
  await requestPause(deps, id, 'ann');
  await approveAll(deps);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({
    status: 'waiting',
    agents_total: { paused: 1, approvals: 0, blocker: { run_id: id, reason: { code: 'paused_by_hand' } } },
  });
  await requestResume(deps, runId, ann);
  expect((await runOf(id)).status).toBe('running');
  expect(await runOf(runId)).toMatchObject({ status: 'running', agents_total: { paused: 0 } });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', agents_total: { paused: 0, approvals: 1 } });
  await expect(requestResume(deps, runId, ann)).rejects.toMatchObject({ code: 'run_not_paused' });
  await approveAll(deps);
  await deliverAll(deps);
  expect((await runOf(runId)).status).toBe('succeeded');
  await isSound();
});

test('a run that does something beside is not waiting; it shows what its sub-agents wait for all the same', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [agent([held]), agent([{ args: { effect: 'read' } }], [held])]);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', agents_total: { waiting: 2, approvals: 2 } });
  const [first] = await pendingApprovals(deps);
  await decideOn(deps, first);
  await sweepOnce(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'running', agents_total: { waiting: 1, approvals: 1 } });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', agents_total: { waiting: 1, approvals: 1 } });
  await isSound();
});

test('a run that waits for a sub-agent can be canceled, and the sub-agent with it', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [agent([agent([held])])]);
  await deliverAll(deps);
  await requestCancel(deps, runId, ann);
  await deliverAll(deps);
  expect((await runOf(runId)).status).toBe('canceled');
  expect((await agentsOf(runId)).map(({ status }) => status)).toEqual(['canceled', 'canceled']);
  expect(await runOf(runId)).toMatchObject({ agents_total: { waiting: 0, approvals: 0, paused: 0 } });
  await isSound();
});

test('the sweeper finds, names and repairs a missing report', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [agent([held], [held])]);
  await deliverAll(deps);
  const [child] = await agentsOf(runId);
  const id = child?.id ?? '';
  // The process that pauses it dies before it can tell the run above.
  const dying = dyingAt(deps, 3, 'after');
  await requestPause(dying.deps, id, 'ann').catch(() => undefined);
  expect((await runOf(id)).status).toBe('paused');
  expect(await runOf(runId)).toMatchObject({ agents_total: { paused: 0 } });
  const later: InMemoryWorker['deps'] = { ...deps, now: () => Date.now() + 10_000 };
  await sweepOnce(later);
  expect(await runOf(runId)).toMatchObject({ agents_total: { paused: 1, blocker: { run_id: id } } });
  expect(await typesOf(id)).toContain('run.repaired');
  expect(await engine.deps.redis.hget(repairsKey, 'wait_not_reported')).toBe('1');
  await isSound();
});

test.each(['before', 'after'] as const)(
  'a process that dies %s any one command leaves no run that waits for nothing, and counts nothing twice',
  async (when) => {
    let commands = 1;
    for (let faulted = true; faulted; commands += stride) {
      await engine.deps.redis.flushall();
      const { deps } = inMemoryWorker(engine);
      // Exactly as many sub-agents as it needs: a reservation that counted twice would leave none.
      const groups = [[agent([agent([held])], [{ args: { effect: 'read' } }])]];
      const spec = { ...specOf(groups), limits: limitsSchema.parse({ max_agents: 2 }) };
      const { runId } = await submitRun(deps, { spec, by: 'test' });
      const dying = dyingAt(deps, commands, when);
      const deliver = () => deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      await deliver();
      await sweepOnce(deps);
      await deliverAll(deps);
      const note = `death at command ${commands}`;
      expect(await runOf(runId), note).toMatchObject({ status: 'waiting', agents_total: { approvals: 1 } });
      await approveAll(deps);
      await deliver();
      await sweepOnce(deps);
      await deliverAll(deps);
      // A call whose worker died during it may have taken effect outside: a person says that it runs again.
      const again = await pendingApprovals(deps);
      expect(
        again.every(({ approval }) => approval.request.kind === 'indeterminate'),
        note,
      ).toBe(true);
      await approveAll(deps);
      await deliverAll(deps);
      expect(await runOf(runId), note).toMatchObject({
        status: 'succeeded',
        agents_total: { waiting: 0, approvals: 0, paused: 0, used: { steps: 3, agents: 1 } },
      });
      faulted = dying.died();
      await isSound();
    }
    expect(commands).toBeGreaterThan(100);
  },
  // Up to 60 s on a busy machine; the full form tries every command.
  600_000,
);
