import { isTerminal } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTasks } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { Died, dyingAt } from '../testing/dying-process.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { requestCancelOfStep } from './cancel-step.ts';
import { requestCancel, submitRun } from './index.ts';

const engine = useTestEngine({ fresh: true });

/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 3;
type Deps = InMemoryWorker['deps'];
const write = { args: { effect: 'workspace' } };
const read = { args: { effect: 'read' } };
const shell = { args: { effect: 'workspace', shell: 'a' } };
const holds = { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] } };
const sub = { groups: [{ steps: [{ tool: 'count', args: { effect: 'read' } }] }] };

const scenes = {
  queued: specOf([[read, read], [write]], { onError: 'continue' }),
  parked: specOf([[write, read], [read]], { ...holds, onError: 'continue' }),
  'side by side': specOf([[shell, shell], [read]], { onError: 'continue', concurrent: true }),
  'sub-agent': specOf([[{ args: { effect: 'read', agent: sub } }], [write]], { onError: 'continue' }),
};

/** The first call of a run, as it stands after some jobs of it. */
async function firstOf(deps: Deps, runId: string) {
  const { run, steps } = await listSteps(deps, runId);
  return { run, step: steps[0] };
}

async function deliverSome(deps: Deps, jobs: number, worker = (_: number) => deps): Promise<void> {
  await deliverAll(deps, (n) => {
    if (n > jobs) throw new Stopped();
    return worker(n);
  }).catch((error: unknown) => {
    if (!(error instanceof Stopped)) throw error;
  });
}
class Stopped extends Error {}

async function toTheEnd(deps: Deps, runId: string) {
  for (let round = 0; round < 6 && !isTerminal((await firstOf(deps, runId)).run.status); round++) {
    await deliverAll(deps);
    await sweepOnce(deps);
    for (const view of await pendingApprovals(deps, runId)) await decideOn(deps, view);
  }
}

test.each(Object.keys(scenes).flatMap((scene) => (['before', 'after'] as const).map((when) => [scene, when] as const)))(
  'a %s call whose cancel is in the log ends so, when the API or a worker dies %s any one command',
  async (scene, when) => {
    const deaths: number[] = [];
    for (let at = 1; ; at += stride) {
      await engine.deps.redis.flushdb();
      const { deps, executions } = inMemoryWorker(engine);
      const { runId } = await submitRun(deps, { spec: scenes[scene as keyof typeof scenes], by: 'test' });
      await deliverSome(deps, scene === 'side by side' || scene === 'sub-agent' ? 3 : 1);
      const { step } = await firstOf(deps, runId);
      const id = step?.id ?? '';
      const before = executions.filter(({ stepId }) => stepId === id).length;
      const dying = dyingAt(deps, at, when);
      await requestCancelOfStep(dying.deps, runId, id, { by: 'ann' }).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      const isAcknowledged = (await firstOf(deps, runId)).step?.cancel !== undefined;
      await deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      await toTheEnd(deps, runId);
      const { run, steps } = await listSteps(deps, runId);
      const what = `death ${when} command ${at}`;
      expect(run.status, what).toBe('succeeded');
      if (isAcknowledged) {
        expect(steps[0]?.outcome?.error?.code, what).toBe('ECANCELED');
        expect(executions.filter(({ stepId }) => stepId === id).length, what).toBe(before);
      } else expect(steps[0]?.status, what).toBe('succeeded');
      // The command of a worker that dies is lost, whatever becomes of its sibling.
      const others = steps.slice(1).filter(({ outcome }) => !dying.died() || outcome?.error?.code !== 'ETASKLOST');
      expect(
        others.map(({ status }) => status),
        what,
      ).toEqual(others.map(() => 'succeeded'));
      await soundLog(deps, runId);
      deaths.push(at);
      if (!dying.died()) break;
    }
    expect(deaths.length).toBeGreaterThan(5);
  },
);

/** What else happens to the same step at the same time. */
const rivals = fc.array(
  fc.constantFrom('deliver', 'approve', 'reject', 'cancel again', 'cancel the run', 'kill its task', 'sweep', 'die'),
  { minLength: 1, maxLength: 4 },
);

test('a cancel that races with deliveries, decisions, kills and the cancel of the run settles the step once', async () => {
  const ends = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(scenes) as (keyof typeof scenes)[])),
      fc.nat({ max: 4 }),
      rivals,
      async (scene, jobs, acts) => {
        await engine.deps.redis.flushdb();
        const { deps } = inMemoryWorker(engine);
        const { runId } = await submitRun(deps, { spec: scenes[scene], by: 'test' });
        await deliverSome(deps, 1 + jobs);
        const { step } = await firstOf(deps, runId);
        if (step === undefined) return;
        const cancel = (by: string) => requestCancelOfStep(deps, runId, step.id, { by }).catch(unlessRefused);
        const act = async (name: string): Promise<unknown> => {
          const [view] = await pendingApprovals(deps, runId);
          const [task] = await readTasks(deps.redis, runId);
          if (name === 'cancel again') return cancel('bob');
          if (name === 'cancel the run') return requestCancel(deps, runId, { by: 'test' }).catch(unlessRefused);
          if (name === 'kill its task' && task) return deps.queues.wakeTask(runId, task.id);
          if (name === 'sweep') return sweepOnce(deps);
          // Two deliveries of one job are two workers, and one has lost it.
          if (name === 'deliver') return deliverSome(deps, 1).catch(unlessRefused);
          const dying = dyingAt(deps, 3, 'after');
          if (name === 'die') return deliverSome(deps, 1, () => dying.deps).catch(unlessRefused);
          const decision = name === 'approve' ? 'approve' : 'reject';
          return view && decideOn(deps, view, { decision }).catch(unlessRefused);
        };
        await Promise.all([cancel('ann'), ...acts.map(act)]);
        await toTheEnd(deps, runId);
        const events = await soundLog(deps, runId);
        const about = events.filter((event) => 'step_id' in event && event.step_id === step.id);
        const count = (type: RegExp) => about.filter((event) => type.test(event.type)).length;
        expect(count(/^step\.cancel_requested$/)).toBeLessThanOrEqual(1);
        expect(count(/^step\.(succeeded|failed|killed|timed_out|rejected|expired|canceled)$/)).toBe(1);
        const asked = about.findIndex(({ type }) => type === 'step.cancel_requested');
        if (asked >= 0) expect(about.slice(asked).map(({ type }) => type)).not.toContain('step.started');
        ends.add((await firstOf(deps, runId)).step?.status ?? '');
        expect(isTerminal((await firstOf(deps, runId)).run.status)).toBe(true);
      },
    ),
    { numRuns: process.env.HOLDPOINT_CRASH === 'full' ? 200 : 60 },
  );
  expect([...ends]).toEqual(expect.arrayContaining(['succeeded', 'canceled', 'killed']));
});

function unlessRefused(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'EngineError') throw error;
}
