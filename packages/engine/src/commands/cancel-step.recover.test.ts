import { isSettled, isTerminal } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTasks } from '../log/index.ts';
import { listSteps, readCalls } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { Died, dyingAt } from '../testing/dying-process.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, openSpec, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { tapCommands } from '../testing/tap-commands.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { requestCancelOfStep } from './cancel-step.ts';
import { requestCancel, requestPause, requestResume, sendCalls, submitRun } from './index.ts';

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

const callOf = (effect: string) => ({ tool: 'count', args: { effect } });

/** An open run that has not started: all its calls wait for their turns. */
async function openRun(deps: Deps) {
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  for (const turn of [['read'], ['read', 'workspace', 'read'], ['workspace']]) {
    await sendCalls(deps, runId, { calls: turn.map(callOf), by: 'test' });
  }
  const ids = (await Promise.all([1, 2, 3].map((number) => readCalls(deps, runId, number)))).flatMap(({ waiting }) =>
    waiting.map(({ id }) => id),
  );
  return { runId, ids };
}

async function untilSettled(deps: Deps, runId: string) {
  for (let round = 0; round < 6; round++) {
    await deliverAll(deps);
    await sweepOnce(deps);
  }
  return listSteps(deps, runId);
}

test.each(['before', 'after'] as const)(
  'a call behind an earlier turn whose cancel is in the log never runs, when the API or a worker dies %s any one command',
  async (when) => {
    const deaths: number[] = [];
    for (let at = 1; ; at += stride) {
      await engine.deps.redis.flushdb();
      const { deps, executions } = inMemoryWorker(engine);
      const { runId, ids } = await openRun(deps);
      const id = ids[2] ?? '';
      const dying = dyingAt(deps, at, when);
      await requestCancelOfStep(dying.deps, runId, id, { by: 'ann' }).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      const isAcknowledged = (await readCalls(deps, runId, 2)).waiting[1]?.cancel !== undefined;
      await deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      const { run, steps } = await untilSettled(deps, runId);
      const what = `death ${when} command ${at}`;
      expect(run.status, what).toBe('waiting');
      const expected = ids.map((one) => (one === id && isAcknowledged ? 'canceled' : 'succeeded'));
      expect(
        steps.map(({ status }) => status),
        what,
      ).toEqual(expected);
      expect(new Set(executions.map(({ stepId }) => stepId)).has(id), what).toBe(!isAcknowledged);
      await soundLog(deps, runId);
      deaths.push(at);
      if (!dying.died()) break;
    }
    expect(deaths.length).toBeGreaterThan(5);
  },
);

/** The first turn is planned by a job of its own, the second with the outcome of the first. Their first calls begin with their turns. */
test.each([0, 1])(
  'a cancel of call %i between any two commands of the worker that plans its turn is obeyed',
  async (nth) => {
    const ends = new Set<string>();
    for (let at = 1, isOver = false; !isOver; at++) {
      await engine.deps.redis.flushdb();
      const { deps, executions } = inMemoryWorker(engine);
      const { runId, ids } = await openRun(deps);
      const id = ids[nth] ?? '';
      isOver = true;
      const tapped = tapCommands(deps, async (command, send) => {
        if (command === at) {
          isOver = false;
          await requestCancelOfStep(deps, runId, id, { by: 'ann' }).catch(unlessRefused);
        }
        return send();
      });
      await deliverAll(deps, () => tapped);
      await untilSettled(deps, runId);
      const types = (await soundLog(deps, runId)).flatMap((event) =>
        'step_id' in event && event.step_id === id ? [event.type as string] : [],
      );
      const asked = types.indexOf('step.cancel_requested');
      if (asked >= 0) expect(types.slice(asked), `command ${at}`).not.toContain('step.started');
      if (asked === 0) {
        expect(types, `command ${at}`).toEqual(['step.cancel_requested', 'step.created', 'step.canceled']);
        expect(executions.filter(({ stepId }) => stepId === id)).toEqual([]);
      }
      ends.add(`${types.at(-1)}${asked === 0 ? ' before its turn' : ''}`);
    }
    expect([...ends]).toEqual(expect.arrayContaining(['step.canceled before its turn', 'step.succeeded']));
  },
);

const rivalsOfWaiting = fc.array(
  fc.constantFrom('deliver', 'deliver', 'cancel again', 'cancel the run', 'pause', 'resume', 'send', 'sweep', 'die'),
  { minLength: 1, maxLength: 5 },
);

test('a cancel that races with the turns of the calls before it either precedes the turn of its call, or ends the step', async () => {
  const ends = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 6 }), fc.nat({ max: 4 }), rivalsOfWaiting, async (jobs, nth, acts) => {
      await engine.deps.redis.flushdb();
      const { deps, executions } = inMemoryWorker(engine);
      const { runId, ids } = await openRun(deps);
      const id = ids[nth] ?? '';
      await deliverSome(deps, jobs);
      const cancel = (by: string) =>
        requestCancelOfStep(deps, runId, id, { by }).then(
          () => true,
          (error: unknown) => {
            unlessRefused(error);
            return false;
          },
        );
      const act = async (name: string): Promise<unknown> => {
        if (name === 'cancel again') return cancel('bob');
        if (name === 'cancel the run') return requestCancel(deps, runId, { by: 'test' }).catch(unlessRefused);
        if (name === 'pause') return requestPause(deps, runId, 'test').catch(unlessRefused);
        if (name === 'resume') return requestResume(deps, runId, { by: 'test' }).catch(unlessRefused);
        if (name === 'send')
          return sendCalls(deps, runId, { calls: [callOf('read')], by: 'test' }).catch(unlessRefused);
        if (name === 'sweep') return sweepOnce(deps);
        const dying = dyingAt(deps, 3, 'after');
        return deliverSome(deps, 1, name === 'die' ? () => dying.deps : undefined).catch(unlessRefused);
      };
      const [isAccepted] = await Promise.all([cancel('ann'), ...acts.map(act)]);
      await requestResume(deps, runId, { by: 'test' }).catch(unlessRefused);
      const { run, steps } = await untilSettled(deps, runId);
      const about = (await soundLog(deps, runId)).filter((event) => 'step_id' in event && event.step_id === id);
      const types: string[] = about.map(({ type }) => type);
      const asked = types.indexOf('step.cancel_requested');
      const created = types.indexOf('step.created');
      const status = steps.find((step) => step.id === id)?.status;
      expect(['waiting', 'canceled']).toContain(run.status);
      expect(types.filter((type) => type === 'step.cancel_requested').length).toBeLessThanOrEqual(1);
      if (asked >= 0) expect(types.slice(asked)).not.toContain('step.started');
      if (asked >= 0 && !(created >= 0 && created < asked)) {
        expect(executions.filter(({ stepId }) => stepId === id)).toEqual([]);
        expect([status, types]).toEqual(
          status === undefined
            ? [undefined, ['step.cancel_requested']]
            : ['canceled', ['step.cancel_requested', 'step.created', 'step.canceled']],
        );
        ends.add(status === undefined ? 'dropped' : 'before its turn');
      } else ends.add(`${status}`);
      // An accepted cancel is in the log, unless that of the run ends the call.
      if (isAccepted && run.status !== 'canceled') expect(asked).toBeGreaterThanOrEqual(0);
      if (run.status === 'waiting') expect(steps.filter(({ status }) => !isSettled(status))).toEqual([]);
    }),
    { numRuns: process.env.HOLDPOINT_CRASH === 'full' ? 300 : 80 },
  );
  expect([...ends]).toEqual(expect.arrayContaining(['before its turn', 'succeeded']));
});

function unlessRefused(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'EngineError') throw error;
}
