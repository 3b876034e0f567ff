import { isTerminal } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideApproval } from '../approvals/index.ts';
import { submitRun } from '../commands/index.ts';
import { fromPayload } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { Died, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { someOf } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { handleStep } from './handle-step.ts';
import { handleTurn } from './handle-turn.ts';
import { handleWorkspace } from './handle-workspace.ts';

const engine = useTestEngine();

type Deps = InMemoryWorker['deps'];
const call = (effect: 'read' | 'workspace' | 'external', more = {}) => ({ args: { effect, looks: true, ...more } });
const allow = { rules: [{ match: {}, action: 'allow' }] };

test('a read after a write of its turn sees what was written, and one before it does not', async () => {
  const { deps } = inMemoryWorker(engine);
  const group = [call('read'), call('workspace'), call('read'), call('read'), call('external'), call('read')];
  const { runId } = await submitRun(deps, { spec: specOf([group], { policy: allow }), by: 'test' });
  await deliver(deps);
  const [, first = '', , , second = ''] = (await listSteps(deps, runId)).steps.map(({ id }) => id);
  expect(await seenBySteps(deps, runId)).toEqual([[], [], [first], [first], [first], [first, second]]);
});

test('neighbouring reads begin at once, a write when both are settled, a read after it when it is', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, {
    spec: specOf([[call('read'), call('read'), call('workspace'), call('read')]]),
    by: 'test',
  });
  const seen: string[][] = [];
  await deliver(deps, async () => {
    seen.push((await listSteps(deps, runId)).steps.map(({ status }) => status));
    return 0;
  });
  expect(
    seen.slice(1).map((statuses) => statuses.map((status) => (status === 'pending' ? '-' : status[0])).join('')),
  ).toEqual(['qq--', expect.stringMatching(/^(sq|qs)--$/), 'ssq-', 'sssq']);
});

test('a call that settles while another of its turn has its job wakes nothing', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId: run_id } = await submitRun(deps, { spec: specOf([[call('read'), call('read')]]), by: 'test' });
  await handleTurn(deps, { run_id, turn: 1 }, calm());
  const { steps } = await listSteps(deps, run_id);
  const woken: string[] = [];
  const wakeStep: Deps['queues']['wakeStep'] = async (_, id) => void woken.push(id);
  const queues = { ...deps.queues, wakeStep };
  await handleStep({ ...deps, queues }, { run_id, step_id: steps[0]?.id ?? '' }, calm());
  expect(woken).toEqual([]);
  await deliver(deps);
  expect((await listSteps(deps, run_id)).run.status).toBe('succeeded');
});

test('a call that only reads cannot be edited into one that writes: the calls beside it have begun', async () => {
  const { deps } = inMemoryWorker(engine);
  const policy = { rules: [{ match: { effect: 'read' }, action: 'hold' }] };
  const { runId } = await submitRun(deps, { spec: specOf([[call('read'), call('read')]], { policy }), by: 'test' });
  await deliver(deps);
  const [view] = await pendingApprovals(deps, runId);
  const edit = (effect: string) =>
    decideApproval(deps, view?.approval.id ?? '', {
      ...{ decision: 'edit', action_digest: view?.digest ?? '', by: 'test', args: { effect } },
    });
  await expect(edit('workspace')).rejects.toMatchObject({ code: 'invalid_decision' });
  await expect(edit('read')).resolves.toMatchObject({ approval: { status: 'edited' } });
});

test('what waits for a person holds up what may not overtake it, and nothing else', async () => {
  const { deps } = inMemoryWorker(engine);
  const statuses = async (group: object[], rules: object[]) => {
    const spec = specOf([group.map((one) => ({ args: { looks: true, ...one } }))], { policy: { rules } });
    const { runId } = await submitRun(deps, { spec, by: 'test' });
    await deliver(deps);
    return (await listSteps(deps, runId)).steps.map(({ status }) => status);
  };
  const [read, write] = [{ effect: 'read' }, { effect: 'workspace' }];
  const hold = (effect: string) => [{ match: { effect }, action: 'hold' }];
  expect(await statuses([read, write, read, write], hold('workspace'))).toEqual([
    ...['succeeded', 'parked', 'pending', 'pending'],
  ]);
  expect(await statuses([read, read, write], hold('read'))).toEqual(['parked', 'parked', 'pending']);
  const question = { effect: 'read', gate: 'input' };
  expect(await statuses([question, read, write], [])).toEqual(['parked', 'succeeded', 'pending']);
  // The end of a task is seen by the calls beside it.
  const kill = { effect: 'read', kills: 'task_none' };
  expect(await statuses([question, kill, read], [])).toEqual(['parked', 'pending', 'pending']);
  expect(await statuses([kill, question, read], [])).toEqual(['succeeded', 'parked', 'succeeded']);
  // A call that is denied never runs: nothing waits for it.
  const deny = [{ match: { effect: 'external' }, action: 'deny' }];
  expect(await statuses([read, { effect: 'external' }, read, write, read], deny)).toEqual([
    ...['succeeded', 'rejected', 'succeeded', 'succeeded', 'succeeded'],
  ]);
});

const someCall = fc.record({
  args: fc.record({
    effect: fc.constantFrom('read', 'read', 'workspace', 'external'),
    fail: fc.boolean(),
    looks: fc.constant(true),
  }),
});
const groups = fc.array(fc.array(someCall, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 });
const rules = fc.array(
  fc.record({
    match: fc.record({ effect: fc.constantFrom('read', 'workspace', 'external') }),
    action: fc.constantFrom('allow', 'hold', 'deny'),
  }),
  { maxLength: 3 },
);

test('whatever is delivered first and wherever a worker dies, each call sees what the calls before it left', async () => {
  await fc.assert(
    fc.asyncProperty(
      groups,
      rules,
      fc.infiniteStream(fc.nat({ max: 100 })),
      fc.array(fc.record({ at: fc.integer({ min: 1, max: 12 }), after: fc.boolean() }), { maxLength: 2 }),
      async (plan, policy, choices, deaths) => {
        await engine.deps.redis.flushall();
        const { deps } = inMemoryWorker(engine);
        const spec = specOf(plan, { policy: { rules: policy }, onError: 'continue' });
        const { runId } = await submitRun(deps, { spec, by: 'test' });
        const pick = async () => choices.next().value;
        for (const { at, after } of deaths) {
          const dying = dyingAt(deps, at, after ? 'after' : 'before');
          await deliver(deps, pick, () => (dying.died() ? deps : dying.deps));
          await decideOne(deps);
        }
        for (let round = 0; !isTerminal((await listSteps(deps, runId)).run.status); round++) {
          expect(round).toBeLessThan(60);
          await sweepOnce(deps);
          await deliver(deps, pick);
          await decideOne(deps);
        }
        await soundLog(deps, runId);
        const { run, steps } = await listSteps(deps, runId);
        expect(run.status).toBe('succeeded');
        const seen = await seenBySteps(deps, runId);
        const wrote: string[] = [];
        for (const [index, step] of steps.entries()) {
          if (step.outcome?.attempt == null) continue;
          if (step.status === 'succeeded') expect(seen[index]).toEqual(wrote);
          if (step.effect !== 'read') wrote.push(step.id);
        }
      },
    ),
    { numRuns: someOf(25) },
  );
});

/** What each step saw when it began; absent where it did not succeed. */
async function seenBySteps(deps: Deps, runId: string): Promise<(string[] | undefined)[]> {
  const { steps } = await listSteps(deps, runId);
  return Promise.all(
    steps.map(async ({ outcome }) => {
      const value = outcome?.value === undefined ? undefined : await fromPayload(deps.blobs, outcome.value);
      return (value as { seen?: string[] } | undefined)?.seen;
    }),
  );
}

/** Delivers wake-ups until none is left: of those that wait, the one that `pick` chooses. */
async function deliver(deps: Deps, pick: () => Promise<number> = async () => 0, worker = () => deps): Promise<void> {
  const { queues } = deps;
  const context = calm();
  const kinds = ['waiting', 'prioritized'] as const;
  for (let deliveries = 0; deliveries < 500; deliveries++) {
    const turns = (await queues.turns.getJobs([...kinds])).map((job) => ({
      remove: () => job.remove(),
      handle: () => handleTurn(worker(), job.data, context),
    }));
    const steps = (await queues.steps.getJobs([...kinds])).map((job) => ({
      remove: () => job.remove(),
      handle: () => handleStep(worker(), job.data, context),
    }));
    const workspaces = (await queues.workspaces.getJobs([...kinds])).map((job) => ({
      remove: () => job.remove(),
      handle: () => handleWorkspace(worker(), job.data, context),
    }));
    const jobs = [...turns, ...steps, ...workspaces];
    if (jobs.length === 0) return;
    const job = jobs[(await pick()) % jobs.length];
    try {
      await job?.handle();
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      continue;
    }
    await job?.remove();
  }
  throw new Error('the run does not come to an end');
}

/** Approves the newest approval. */
async function decideOne(deps: Deps): Promise<void> {
  const view = (await pendingApprovals(deps)).at(-1);
  if (!view) return;
  await decideOn(deps, view, { by: 'test' });
}
