import { expect, test } from 'vitest';
import { readLog } from '../log/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, dyingAt, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { forkRun } from './fork-run.ts';
import { requestPause, requestResume } from './steer-run.ts';
import { submitRun } from './submit-run.ts';
import { undoSteps } from './undo-run.ts';

const engine = useTestEngine();

const call = (name: string, effect: string, more: object = {}) => ({ name, args: { effect, ...more } });
const write = (name: string) => call(name, 'workspace');
const submit = (name = 'plan') => call(name, 'read', { gate: 'plan' });
/** The most generous policy: nothing but plan mode keeps a call from its effect. */
const policy = { rules: [{ match: {}, action: 'allow' as const }] };
const planning = (groups: Parameters<typeof specOf>[0]) =>
  specOf(groups, { policy, onError: 'continue', modes: { plan: true } });
const submitted = async (deps: Parameters<typeof submitRun>[0], groups: Parameters<typeof specOf>[0]) =>
  (await submitRun(deps, { spec: planning(groups), by: 'test' })).runId;

const namesOf = async (runId: string) =>
  (await listSteps(engine.deps, runId)).steps.map(({ call: { name }, status }) => `${name} ${status}`);

test('nothing but the approval of the plan lets a call change something', async () => {
  const worker = inMemoryWorker(engine);
  const { deps, tree } = worker;
  const runId = await submitted(deps, [
    [write('a'), call('out', 'external'), call('look', 'read')],
    [submit('first')],
    [write('b')],
    [submit('second'), write('beside')],
    [write('c'), call('sent', 'external')],
  ]);
  await deliverAll(deps);
  expect(tree).toEqual([]);
  const [first] = await pendingApprovals(deps, runId);
  expect(first?.approval.request).toMatchObject({ kind: 'action', reason: 'the run asks for a decision on its plan' });
  await decideOn(deps, first, { decision: 'reject', message: 'Look at the tests, too.' });
  await deliverAll(deps);
  expect(tree).toEqual([]);
  const [second] = await pendingApprovals(deps, runId);
  await decideOn(deps, second);
  await deliverAll(deps);
  expect(await namesOf(runId)).toEqual([
    ...['a rejected', 'out rejected', 'look succeeded', 'first rejected', 'b rejected', 'second succeeded'],
    // Planned in plan mode, so still denied.
    ...['beside rejected', 'c succeeded', 'sent succeeded'],
  ]);
  const { steps } = await listSteps(deps, runId);
  expect(steps[0]?.outcome?.error).toMatchObject({
    code: 'EPERMISSION',
    next: expect.stringContaining('A person has to approve the plan'),
  });
  expect(steps[3]?.outcome?.error?.message).toContain('Look at the tests, too.');
  const events = await readLog(deps.redis, runId);
  const approved = events.flatMap(({ type }, at) => (type === 'run.plan_approved' ? [at] : []));
  expect(approved.map((at) => events[at - 2]?.type)).toEqual(['approval.decided']);
  await soundLog(deps, runId);
});

test('neither an expiry nor a remembered decision approves a plan', async () => {
  const worker = inMemoryWorker(engine);
  const { deps } = worker;
  const rules = [{ match: {}, action: 'hold' as const, expires_s: 60, on_expiry: 'allow' as const }];
  const spec = specOf([[submit()]], { policy: { rules }, modes: { plan: true } });
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, runId);
  expect(view?.approval.request.on_expiry).toBeUndefined();
  const remember = { scope: 'run' as const };
  await expect(decideOn(deps, view, { remember })).rejects.toMatchObject({ code: 'invalid_decision' });
  expect((await listSteps(deps, runId)).run.plan_approved).toBeUndefined();
});

test('a call planned in plan mode keeps its read-only tree after the approval', async () => {
  const seen: Record<string, boolean> = {};
  const names = new Map<string, string>();
  const worker = inMemoryWorker(engine, {
    execute: async ({ stepId, readOnly }) => {
      seen[names.get(stepId) ?? stepId] = readOnly;
    },
  });
  const { deps } = worker;
  const runId = await submitted(deps, [[submit(), call('behind', 'read')], [call('later', 'read')]]);
  await deliverAll(deps);
  for (const { id, call: made } of (await listSteps(deps, runId)).steps) names.set(id, made.name ?? '');
  await decideOn(deps, (await pendingApprovals(deps, runId))[0]);
  await deliverAll(deps);
  const later = (await listSteps(deps, runId)).steps.find(({ call: made }) => made.name === 'later');
  expect([seen.behind, seen[later?.id ?? '']]).toEqual([true, false]);
});

test('a fork has the mode of its moment, and an undo of the approval brings plan mode back', async () => {
  const worker = inMemoryWorker(engine);
  const { deps, treeOf } = worker;
  const runId = await submitted(deps, [
    [call('look', 'read')],
    [submit()],
    [write('a')],
    [submit('hold')],
    [write('b')],
  ]);
  await deliverAll(deps);
  await decideOn(deps, (await pendingApprovals(deps, runId))[0]);
  await deliverAll(deps);
  const { steps } = await listSteps(deps, runId);
  expect(treeOf(runId)).toEqual([steps[2]?.id]);
  const fork = async (fromStep: number) => {
    const made = await forkRun(deps, runId, { fromStep, changes: {}, by: 'ann' });
    await deliverAll(deps);
    return made.runId;
  };
  const before = await fork(1);
  expect(await namesOf(before)).toEqual(['plan parked']);
  const after = await fork(2);
  expect(await namesOf(after)).toEqual(['a succeeded', 'hold parked']);
  await requestPause(deps, runId, 'ann');
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'ann' });
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const { run } = await listSteps(deps, runId);
  expect(run).not.toHaveProperty('plan_approved');
  const [again] = await pendingApprovals(deps, runId);
  await decideOn(deps, again, { decision: 'reject', message: 'No.' });
  await deliverAll(deps);
  expect((await namesOf(runId)).filter((name) => name.startsWith('a '))).toEqual(['a undone', 'a rejected']);
  for (const id of [runId, before, after]) await soundLog(deps, id);
});

const { from, every } = killPoints();

test.each(['before', 'after'] as const)(
  'a process that dies %s any write at the approval leaves one mode to all',
  async (when) => {
    for (let n = from; ; n += every) {
      const worker = inMemoryWorker(engine);
      const { deps, treeOf } = worker;
      const runId = await submitted(deps, [[submit()], [write('a')]]);
      await deliverAll(deps);
      const [view] = await pendingApprovals(deps, runId);
      const dying = dyingAt(deps, n, when);
      await decideOn(dying.deps, view)
        .then(() => deliverAll(dying.deps))
        .catch(() => {});
      const events = (await readLog(deps.redis, runId)).map(({ type }) => type);
      // One append: no log has the decision without the mode.
      expect(events.includes('run.plan_approved')).toBe(events.includes('approval.decided'));
      if (!events.includes('run.plan_approved')) expect(treeOf(runId)).toEqual([]);
      if (!events.includes('approval.decided')) await decideOn(deps, (await pendingApprovals(deps, runId))[0]);
      await sweepOnce(deps);
      await deliverAll(deps);
      const { run, steps } = await listSteps(deps, runId);
      expect(steps.map(({ call: { name }, status }) => `${name} ${status}`)).toEqual(['plan succeeded', 'a succeeded']);
      expect([run.status, run.plan_approved]).toEqual(['succeeded', steps[0]?.id]);
      expect(treeOf(runId)).toEqual([steps[1]?.id]);
      await soundLog(deps, runId);
      if (!dying.died()) break;
    }
  },
);
