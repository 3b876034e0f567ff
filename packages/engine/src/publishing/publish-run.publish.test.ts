import type { DecisionKind, Json, RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { decideApproval } from '../approvals/index.ts';
import { requestDiscarding, requestPublication, submitRun } from '../commands/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

const groups = [[{ name: 'a', args: { effect: 'workspace' } }]];

async function finished(deps: InMemoryWorker['deps'], spec: RunSpec): Promise<string> {
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  return runId;
}

const publish = (deps: InMemoryWorker['deps'], runId: string, branch?: string) =>
  requestPublication(deps, runId, { by: 'ann', message: 'm', branch });
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const pending = async (runId: string) => await pendingApprovals(engine.deps, runId);

async function decide(
  deps: InMemoryWorker['deps'],
  runId: string,
  decision: DecisionKind,
  args?: Record<string, Json>,
) {
  const [view] = await pending(runId);
  if (!view) throw new Error('nothing is parked');
  const request = { decision, action_digest: view.digest, by: 'ann', args };
  await decideApproval(deps, view.approval.id, request);
  return view;
}

test('a validator that fails keeps everything from the source, and its output is kept', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf(groups, { validators: ['1', '2', '0'] }));
  await publish(deps, runId);
  await deliverAll(deps);
  expect(published).toEqual([]);
  const run = await runOf(runId);
  expect(run).toMatchObject({ publication: 'failed', publication_detail: { reason: { code: 'validator_failed' } } });
  const results = run.validated && 'json' in run.validated.results ? run.validated.results.json : undefined;
  expect(results).toMatchObject([{ status: 'passed' }, { status: 'failed', exit_code: 1 }]);
  await soundLog(deps, runId);
});

test('a validator has no more time than the operator gives a command', async () => {
  const { deps } = inMemoryWorker(engine);
  const given: number[] = [];
  const validate: typeof deps.executor.validate = (validator, context) => {
    given.push(validator.timeout_s);
    return deps.executor.validate(validator, context);
  };
  const watched = { ...deps, executor: { ...deps.executor, validate } };
  for (const ceilings of [{}, { step_wall_s: 5 }, { step_wall_s: 600 }]) {
    const runId = await finished(watched, specOf(groups, { validators: ['1'] }));
    await publish(watched, runId);
    await deliverAll({ ...watched, ceilings });
  }
  expect(given).toEqual([60, 5, 60]);
});

test('validators leave nothing in the files, and run once for the same candidate', async () => {
  const { deps, tree, treeOf, published } = inMemoryWorker(engine);
  const ran: string[] = [];
  const validate: typeof deps.executor.validate = (validator, context) => {
    ran.push(validator.command);
    treeOf(context.runId).push('litter');
    return deps.executor.validate(validator, context);
  };
  const littering = { ...deps, executor: { ...deps.executor, validate } };
  const runId = await finished(littering, specOf(groups, { validators: ['1'], policy: { publish: 'hold' } }));
  const before = [...tree];
  await publish(littering, runId);
  await deliverAll(littering);
  expect(tree).toEqual(before);
  await decide(littering, runId, 'approve');
  await deliverAll(littering);
  expect(published).toHaveLength(1);
  expect(ran).toEqual(['1']);
});

test('a publish that the policy holds waits for a decision, holding no worker', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf(groups, { policy: { publish: 'hold' } }));
  await publish(deps, runId);
  await deliverAll(deps);
  expect(published).toEqual([]);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', publication: 'parked', parked: 1 });
  await sweepOnce(deps);
  const job = await deps.queues.workspaces.getJob(`workspace-${runId}`);
  expect(await job?.getState()).toBe('delayed');
  await job?.promote();
  await deliverAll(deps);
  expect(published).toEqual([]);
  const view = await decide(deps, runId, 'approve');
  expect(view).toMatchObject({ subject: 'publication', approval: { request: { kind: 'publish' } } });
  await deliverAll(deps);
  expect(published).toHaveLength(1);
  await soundLog(deps, runId);
});

test('an approval holds only for what it showed: a source that moved is shown again', async () => {
  const faults = { source: 1 };
  const { deps, published } = inMemoryWorker(engine, faults);
  const runId = await finished(deps, specOf(groups, { policy: { publish: 'hold' } }));
  await publish(deps, runId);
  await deliverAll(deps);
  faults.source = 2;
  await decide(deps, runId, 'approve');
  await deliverAll(deps);
  expect(published).toEqual([]);
  expect((await runOf(runId)).publication).toBe('parked');
  await decide(deps, runId, 'approve');
  await deliverAll(deps);
  expect(published).toHaveLength(1);
});

test('a source that moves between plan and publish is planned again', async () => {
  const faults = { source: 1 };
  const { deps, published } = inMemoryWorker(engine, faults);
  const planPublish: typeof deps.workspaces.planPublish = async (call) => {
    const planned = await deps.workspaces.planPublish(call);
    if (faults.source < 3) faults.source += 1;
    return planned;
  };
  const moving = { ...deps, workspaces: { ...deps.workspaces, planPublish } };
  const runId = await finished(moving, specOf(groups));
  await publish(moving, runId);
  await deliverAll(moving);
  expect(published).toHaveLength(1);
  expect((await runOf(runId)).publication).toBe('published');
});

test('a conflict waits for a person, who settles it, tries again, or lets it be', async () => {
  const faults = { conflict: true };
  const { deps, published } = inMemoryWorker(engine, faults);
  const settle = { resolutions: [{ path: 'a', take: 'run', seen: null }] };

  const settled = await finished(deps, specOf(groups));
  await publish(deps, settled);
  await deliverAll(deps);
  expect(await runOf(settled)).toMatchObject({
    publication: 'parked',
    publication_detail: { conflicts: [{ path: 'a' }] },
  });
  await expect(decide(deps, settled, 'respond')).rejects.toMatchObject({ code: 'decision_not_allowed' });
  await expect(decide(deps, settled, 'edit')).rejects.toMatchObject({ code: 'invalid_decision' });
  await decide(deps, settled, 'edit', settle);
  await deliverAll(deps);
  expect(published).toHaveLength(1);

  const again = await finished(deps, specOf(groups));
  await publish(deps, again);
  await deliverAll(deps);
  await decide(deps, again, 'approve');
  await deliverAll(deps);
  expect((await runOf(again)).publication).toBe('parked');
  faults.conflict = false;
  await decide(deps, again, 'approve');
  await deliverAll(deps);
  expect(published).toHaveLength(2);

  faults.conflict = true;
  const left = await finished(deps, specOf(groups));
  await publish(deps, left);
  await deliverAll(deps);
  await decide(deps, left, 'reject');
  await deliverAll(deps);
  expect(await runOf(left)).toMatchObject({ publication: 'rejected', parked: 0 });
  faults.conflict = false;
  await publish(deps, left);
  await deliverAll(deps);
  expect(published).toHaveLength(3);
  for (const runId of [settled, again, left]) await soundLog(deps, runId);
});

test('what was settled stays settled when the policy holds the publish afterwards', async () => {
  const { deps, published } = inMemoryWorker(engine, { conflict: true });
  const runId = await finished(deps, specOf(groups, { policy: { publish: 'hold' } }));
  await publish(deps, runId);
  await deliverAll(deps);
  await decide(deps, runId, 'edit', { resolutions: [{ path: 'a', take: 'run', seen: null }] });
  await deliverAll(deps);
  const view = await decide(deps, runId, 'approve');
  expect(view.approval.request.kind).toBe('publish');
  await deliverAll(deps);
  expect(published).toHaveLength(1);
});

test('of many who decide about a publish at once the first wins, and nothing is published twice', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf(groups, { policy: { publish: 'hold' } }));
  await publish(deps, runId);
  await deliverAll(deps);
  const [view] = await pending(runId);
  const answers = await Promise.allSettled(
    (['approve', 'reject', 'approve', 'reject', 'reject'] as const).map((decision) =>
      decideOn(deps, view, { decision }),
    ),
  );
  await deliverAll(deps);
  const decision = (await listSteps(deps, runId)).approvals[0]?.decision?.decision;
  const won = answers.filter(({ status }) => status === 'fulfilled').length;
  expect(won).toBe(decision === 'approve' ? 2 : 3);
  expect(published).toHaveLength(decision === 'approve' ? 1 : 0);
  await soundLog(deps, runId);
});

test('a parked publish expires, and ends when its workspace is discarded', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const expired = await finished(deps, specOf(groups, { policy: { publish: 'hold' } }));
  await publish(deps, expired);
  await deliverAll(deps);
  await deps.queues.wakeWorkspace(expired);
  await deliverAll({ ...deps, now: () => Date.now() + 8 * 24 * 3_600_000 });
  expect(await runOf(expired)).toMatchObject({ publication: 'rejected', parked: 0 });

  const discarded = await finished(deps, specOf(groups, { policy: { publish: 'hold' } }));
  await publish(deps, discarded);
  await deliverAll(deps);
  await requestDiscarding(deps, discarded, 'ann');
  await deliverAll(deps);
  expect(await runOf(discarded)).toMatchObject({ publication: 'discarded', parked: 0 });
  expect(await pending(discarded)).toEqual([]);
  expect(published).toEqual([]);
  for (const runId of [expired, discarded]) await soundLog(deps, runId);
});

test('a publish under way ends before its workspace may be discarded, so that the log says what became of the source', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf(groups));
  await publish(deps, runId);
  const plan: typeof deps.workspaces.planPublish = async (call) => {
    await expect(requestDiscarding(deps, runId, 'ann')).rejects.toMatchObject({ code: 'publication_pending' });
    return deps.workspaces.planPublish(call);
  };
  await deliverAll({ ...deps, workspaces: { ...deps.workspaces, planPublish: plan } });
  expect(published).toHaveLength(1);
  expect(await runOf(runId)).toMatchObject({ publication: 'published' });
  await requestDiscarding(deps, runId, 'ann');
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ publication: 'discarded' });
  const events = (await soundLog(deps, runId)).map(({ type }) => type);
  const wanted = ['workspace.publish_requested', 'workspace.published', 'workspace.discard_requested'];
  expect(events.filter((type) => wanted.some((one) => one === type))).toEqual(wanted);
});

test('a published change set may go to another branch, too; a publish under way may not be changed', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf(groups));
  await publish(deps, runId);
  await expect(publish(deps, runId, 'other')).rejects.toMatchObject({ code: 'publication_pending' });
  const reworded = requestPublication(deps, runId, { by: 'ann', message: 'other words' });
  await expect(reworded).rejects.toMatchObject({ code: 'publication_pending' });
  await publish(deps, runId);
  await deliverAll(deps);
  await publish(deps, runId);
  await deliverAll(deps);
  expect(published).toHaveLength(1);
  await publish(deps, runId, 'other');
  await deliverAll(deps);
  expect(published).toHaveLength(2);
});

test.each(['before', 'after'] as const)(
  'a worker that dies %s any one command to Redis publishes what was validated and approved, and nothing else',
  async (when) => {
    const points = killPoints();
    let commands = points.from;
    for (let faulted = true; faulted; commands += points.every) {
      const { deps, published, tree } = inMemoryWorker(engine, { conflict: true });
      const runId = await finished(deps, specOf(groups, { policy: { publish: 'hold' }, validators: ['1'] }));
      const before = [...tree];
      const dying = dyingAt(deps, commands, when);
      const lucky = () => (dying.died() ? deps : dying.deps);
      await publish(deps, runId);
      await deliverAll(deps, lucky);
      await sweepOnce(deps);
      await decide(deps, runId, 'edit', { resolutions: [{ path: 'a', take: 'run', seen: null }] });
      await deliverAll(deps, lucky);
      await sweepOnce(deps);
      expect(published, `death at command ${commands}`).toEqual([]);
      await decide(deps, runId, 'approve');
      await deliverAll(deps, lucky);
      await sweepOnce(deps);
      await deliverAll(deps);
      faulted = dying.died();
      const run = await runOf(runId);
      expect(run.publication, `death at command ${commands}`).toBe('published');
      expect(new Set(published)).toEqual(new Set([run.snapshot]));
      expect(tree).toEqual(before);
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(15);
  },
);

test('a publish that cannot bring all that the run made waits for a person, who accepts that or not', async () => {
  const { deps, published } = inMemoryWorker(engine, { unpublishable: ['run/socket', 'disk.img'] });
  const runId = await finished(deps, specOf(groups));
  await publish(deps, runId);
  await deliverAll(deps);
  expect(published).toEqual([]);
  expect((await runOf(runId)).publication).toBe('parked');
  expect((await pending(runId))[0]?.approval.request).toMatchObject({
    kind: 'publish',
    reason: 'the run made or changed what cannot be published: run/socket and 1 more. Approve to publish without it',
  });
  await decide(deps, runId, 'reject');
  await deliverAll(deps);
  expect((await runOf(runId)).publication).toBe('rejected');
  await publish(deps, runId);
  await deliverAll(deps);
  await decide(deps, runId, 'approve');
  await deliverAll(deps);
  expect(published).toHaveLength(1);
});

test('what is to be published, ignored files included or not, is part of the request', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf(groups));
  await publish(deps, runId);
  await deliverAll(deps);
  await publish(deps, runId);
  await deliverAll(deps);
  expect(published).toHaveLength(1);
  await requestPublication(deps, runId, { by: 'ann', message: 'm', include_ignored: true });
  expect((await runOf(runId)).publish_request).toMatchObject({ include_ignored: true });
  await deliverAll(deps);
  expect(published).toHaveLength(2);
});
