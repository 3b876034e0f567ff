import type { Caller } from '@holdpoint/contract';
import { describe, expect, test } from 'vitest';
import { listApprovals } from '../approvals/list-approvals.ts';
import { collectGarbage } from '../handlers/collect-garbage.ts';
import { readInstallation } from '../installation/record.ts';
import { approvalIndex, approvalIndexOf, runIndex } from '../log/keys.ts';
import { openEngine } from '../open-engine.ts';
import { listRuns, walkAllRuns } from '../queries/list-runs.ts';
import { listAgents } from '../queries/list-tree.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

const callerOf = (tenant: string, kind: Caller['kind'] = 'person'): Caller => ({
  name: `one of ${tenant}`,
  kind,
  tenant,
});
const held = { args: { effect: 'external' } };
const agent = {
  args: { effect: 'read', agent: { groups: [{ steps: [{ tool: 'count', ...held }] }] } },
};

function setUp() {
  const { deps } = inMemoryWorker(engine);
  const opened = openEngine(deps);
  return { deps, of: (tenant: string, kind?: Caller['kind']) => opened.as(callerOf(tenant, kind)) };
}

test('sub-agents, forks and approvals stay in the tenant of their run, in its indexes alone', async () => {
  const { deps, of } = setUp();
  const acme = of('acme');
  const { runId } = await acme.runs.submit({ spec: specOf([[agent], [held]]) });
  await deliverAll(deps);
  const run = await acme.runs.get(runId);
  expect(run).toMatchObject({ tenant: 'acme', created_by: 'one of acme' });
  const [child] = await listAgents(deps, run);
  expect(child).toMatchObject({ tenant: 'acme', created_by: runId });
  expect(await deps.redis.exists(runIndex, approvalIndex)).toBe(0);
  for (const other of ['default', 'globex']) {
    expect((await of(other).runs.list({}, { limit: 10 })).items).toEqual([]);
    expect((await of(other).approvals.list({}, { limit: 10 })).items).toEqual([]);
  }
  const [waiting] = (await acme.approvals.list({}, { limit: 10 })).items;
  expect(waiting?.run.id).toBe(child?.id);
  // The sweeper keeps what is pending, and lists again what was lost.
  await deps.redis.del(approvalIndexOf('acme'));
  await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
  expect((await acme.approvals.list({}, { limit: 10 })).items).toHaveLength(1);
  const { approval, digest } = waiting ?? { approval: { id: '' }, digest: '' };
  await acme.approvals.decide(approval.id, { decision: 'approve', action_digest: digest });
  expect(await deps.redis.zcard(approvalIndexOf('acme'))).toBe(0);
  await deliverAll(deps);
  const forked = await acme.runs.fork(runId, { fromStep: 1, changes: {} });
  expect(await acme.runs.get(forked.runId)).toMatchObject({ tenant: 'acme' });
  await soundLog(deps, runId);
  expect((await acme.runs.list({}, { limit: 10 })).items).toHaveLength(3);
});

test('every command and query refuses the ids of another tenant as unknown ones, and changes nothing', async () => {
  const { deps, of } = setUp();
  const { runId } = await of('acme').runs.submit({ spec: specOf([[held]]) });
  await deliverAll(deps);
  const { steps } = await of('acme').runs.steps(runId);
  const [stepId, approvalId] = [steps[0]?.id ?? '', steps[0]?.approval ?? ''];
  const before = await deps.redis.hgetall(`hp:{${runId}}:state`);
  const { runs, approvals, publications, tasks, events } = of('default');
  const asks: Record<string, () => Promise<unknown>> = {
    get: () => runs.get(runId),
    steps: () => runs.steps(runId),
    step: () => runs.step(stepId),
    attempts: () => runs.attempts(runId, stepId),
    message: () => runs.sendMessage(runId, { text: 'hi' }),
    pause: () => runs.pause(runId),
    resume: () => runs.resume(runId, {}),
    cancel: () => runs.cancel(runId, {}),
    undo: () => runs.undo(runId, { toStep: 0, keepExternalEffects: true }),
    retry: () => runs.retry(runId, { keepExternalEffects: true }),
    fork: () => runs.fork(runId, { fromStep: 0, changes: {} }),
    approval: () => approvals.get(approvalId),
    find: () => approvals.find(runId, approvalId),
    decide: () => approvals.decide(approvalId, { decision: 'approve', action_digest: 'x' }),
    publish: () => publications.request(runId, {}),
    discard: () => publications.discard(runId),
    tasks: () => tasks.list(runId),
    task: () => tasks.find(runId, 'task_x'),
    kill: () => tasks.kill(runId, 'task_x'),
    events: () => events.list(runId),
    all: () => events.all(runId).next(),
  };
  for (const [name, ask] of Object.entries(asks)) {
    const id =
      /step/.test(name) && name === 'step' ? stepId : ['approval', 'decide'].includes(name) ? approvalId : runId;
    const error: unknown = await ask().catch((one: unknown) => one);
    expect([name, error]).toEqual([
      name,
      expect.objectContaining({ message: expect.stringMatching(`^there is no \\w+ ${id}$`) }),
    ]);
  }
  expect(await runs.find(runId)).toBeUndefined();
  expect(await deps.redis.hgetall(`hp:{${runId}}:state`)).toEqual(before);
});

test('an agent decides nothing, whatever scopes its key has', async () => {
  const { deps, of } = setUp();
  await of('default').runs.submit({ spec: specOf([[held]]) });
  await deliverAll(deps);
  const [view] = (await listApprovals(deps, {}, { limit: 1 })).items;
  const decision = { decision: 'approve', action_digest: view?.digest ?? '' } as const;
  await expect(of('default', 'agent').approvals.decide(view?.approval.id ?? '', decision)).rejects.toMatchObject({
    code: 'not_a_decider',
  });
  expect((await listApprovals(deps, {}, { limit: 1 })).items).toHaveLength(1);
});

test('all callers of a tenant share an Idempotency-Key, and no other tenant does', async () => {
  const { of } = setUp();
  const idempotency = { key: 'k', body: { a: 1 } };
  const spec = specOf([[held]]);
  const first = await of('acme').runs.submit({ spec, idempotency });
  const other = await of('default').runs.submit({ spec, idempotency });
  expect(other.runId).not.toBe(first.runId);
  expect(await of('acme', 'service').runs.submit({ spec, idempotency })).toEqual({
    runId: first.runId,
    created: false,
  });
  expect(await of('acme').runs.findSubmitted(idempotency)).toBe(first.runId);
  expect(await of('globex').runs.findSubmitted(idempotency)).toBeUndefined();
});

describe('what concerns the runs of all tenants', () => {
  test('sees them newest first: garbage collection keeps their blobs, and the installation counts them', async () => {
    const { deps, of } = setUp();
    const made: string[] = [];
    for (const tenant of ['default', 'acme', 'globex', 'acme', 'default', 'globex']) {
      made.push(
        (await of(tenant).runs.submit({ spec: specOf([[{ args: { effect: 'read', note: 'x'.repeat(40_000) } }]]) }))
          .runId,
      );
    }
    await deliverAll(deps);
    const walked: string[] = [];
    for await (const id of walkAllRuns(deps)) walked.push(id);
    // Ids of the same millisecond sort by chance.
    expect(walked).toEqual(made.toSorted().toReversed());
    expect((await readInstallation({ redis: deps.redis, dataDir: engine.directory })).redis.runs).toBe(6);
    const later = { ...deps, now: () => Date.now() + 30 * 24 * 3_600_000 };
    await collectGarbage(later, new AbortController().signal);
    await collectGarbage(later, new AbortController().signal);
    for (const [at, tenant] of ['default', 'acme', 'globex'].entries()) {
      const mine = of(tenant);
      const run = await mine.runs.get(made[at] ?? '');
      expect((await mine.runs.spec(run)).goal.planner).toBe('scripted');
      const { steps } = await mine.runs.steps(run.id);
      for (const step of steps) await expect(mine.read(step.args)).resolves.toBeDefined();
    }
  });

  test('data from before there were tenants is of the tenant default', async () => {
    const { deps, of } = setUp();
    const { runId } = await of('default').runs.submit({ spec: specOf([[held]]) });
    const fields = await deps.redis.hgetall(`hp:{${runId}}:state`);
    expect(fields.tenant).toBeUndefined();
    await deps.redis.hdel(`hp:{${runId}}:state`, 'created_by');
    expect((await of('default').runs.list({}, { limit: 1 })).items[0]?.id).toBe(runId);
    expect((await listRuns(deps, {}, { limit: 1 })).items).toHaveLength(1);
  });
});
