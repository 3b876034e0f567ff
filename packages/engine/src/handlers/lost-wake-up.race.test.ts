import { isSettled, type ModelRetrying, type RunSpec } from '@holdpoint/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAdmission } from '../admission/admission.ts';
import { requestCancelOfStep } from '../commands/cancel-step.ts';
import { finishRun } from '../commands/finish-run.ts';
import { retryRun } from '../commands/retry-run.ts';
import { sendCalls } from '../commands/send-calls.ts';
import { sendMessage } from '../commands/send-message.ts';
import {
  requestCancel,
  requestDiscarding,
  requestPause,
  requestPublication,
  requestResume,
} from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { undoSteps } from '../commands/undo-run.ts';
import type { WorkerDeps } from '../deps.ts';
import { EngineError } from '../domain/errors.ts';
import type { RunState } from '../domain/index.ts';
import { readTasks } from '../log/read-state.ts';
import type { Planner, PlannerDecision } from '../ports/index.ts';
import { listRuns } from '../queries/list-runs.ts';
import { listSteps } from '../queries/list-steps.ts';
import { requestTaskKill } from '../tasks/task-handle.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { inMemoryWorker, openSpec, specOf, sweepOnce } from '../testing/index.ts';
import { type JobTaker, openJobTaker, type QueueName, queuesInOrder } from '../testing/job-taker.ts';
import { tapCommands } from '../testing/tap-commands.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });
let taker: JobTaker;
beforeAll(() => {
  taker = openJobTaker(engine.deps);
});
afterAll(() => taker.close());

type Act = (deps: WorkerDeps, runId: string) => Promise<unknown>;
const ann = { by: 'ann' };
const read = { args: { effect: 'read' } };
const write = { args: { effect: 'workspace' } };
const holdWrites = { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] } };

const pause: Act = (deps, runId) => requestPause(deps, runId, 'ann');
const resume: Act = (deps, runId) => requestResume(deps, runId, ann);
const cancel: Act = (deps, runId) => requestCancel(deps, runId, ann);
const undo: Act = (deps, runId) => undoSteps(deps, runId, { toStep: 0, keepExternalEffects: true, ...ann });
const retry: Act = (deps, runId) => retryRun(deps, runId, { keepExternalEffects: true, ...ann });
const say: Act = (deps, runId) => sendMessage(deps, runId, { text: 'words', ...ann });
const send: Act = (deps, runId) =>
  sendCalls(deps, runId, { calls: [{ tool: 'count', args: { effect: 'read' } }], ...ann });
const finish: Act = (deps, runId) => finishRun(deps, runId, {});
const publish: Act = (deps, runId) => requestPublication(deps, runId, ann);
const discard: Act = (deps, runId) => requestDiscarding(deps, runId, 'ann');
const deliver: Act = (deps) => taker.deliverRest(deps);
const decide =
  (decision: 'approve' | 'reject'): Act =>
  async (deps) => {
    for (const view of await pendingApprovals(deps)) await decideOn(deps, view, { decision });
  };
const kill: Act = async (deps, runId) => {
  for (const { id } of await readTasks(deps.redis, runId)) await requestTaskKill(deps, runId, id, 'ann');
};

const cancelSteps: Act = async (deps, runId) => {
  const { steps } = await listSteps(deps, runId);
  for (const { id } of steps.filter(({ status }) => !isSettled(status))) {
    await requestCancelOfStep(deps, runId, id, ann).catch((error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'step_settled')) throw error;
    });
  }
};

/** Another run takes the only place, and gives it back. */
const other = 'run_other';
const fillPlace: Act = ({ admission }) =>
  Promise.resolve(
    admission?.enter(
      {
        id: other,
        status: 'queued',
        header: { planner: 'scripted' },
        created_at: '2020-01-01T00:00:00Z',
        turn: 0,
        steps: 0,
      } as RunState,
      specOf([[read]]),
    ),
  );
const freePlace: Act = async ({ admission }) => admission?.leave(other, { force: true });

/** What is done while a worker has a job: at one of its commands, and when its handler has returned. */
const stories: Record<string, { before?: Act[]; during?: Act[]; end?: Act[] }> = {
  'a free place': { during: [freePlace] },
  'a free place at its end': { end: [freePlace] },
  'cancel, and a free place': { during: [cancel], end: [freePlace] },
  'pause and resume': { during: [pause, resume] },
  'pause, and resume at its end': { during: [pause], end: [resume] },
  'resume of a paused run': { before: [pause], during: [resume] },
  'resume of a paused run, whose other jobs run': { before: [pause], during: [resume, deliver] },
  cancel: { during: [cancel] },
  'cancel of a paused run': { before: [pause], during: [cancel] },
  'undo and resume': { during: [pause, undo, resume] },
  'undo and resume, while the other jobs run': { during: [pause, undo, deliver, resume, deliver] },
  retry: { during: [pause, retry] },
  'retry after a cancel': { during: [cancel, deliver, retry] },
  message: { during: [say] },
  approve: { during: [decide('approve')] },
  'approve in a paused run, and resume': { before: [pause], during: [decide('approve'), resume] },
  reject: { during: [decide('reject'), deliver] },
  calls: { during: [send] },
  'calls of a paused run': { before: [pause], during: [send, resume] },
  finish: { during: [finish] },
  'cancel of its steps': { during: [cancelSteps] },
  'cancel of its steps, while the other jobs run': { during: [cancelSteps, deliver] },
  'pause, and cancel of its steps': { during: [pause, cancelSteps], end: [resume] },
  'kill of its tasks': { during: [kill, deliver] },
  publish: { during: [publish] },
  'publish and discard': { during: [publish], end: [discard] },
  'the other jobs': { during: [deliver] },
};

const scripted = (...groups: Parameters<typeof specOf>[0]) => specOf(groups, { onError: 'continue' });
const held = specOf([[write], [read]], { ...holdWrites, onError: 'continue' });
const prompted: RunSpec = { ...held, goal: { planner: 'model', model: 'test', prompt: 'count' } };
const awayModel: RunSpec = { ...held, goal: { planner: 'model', model: 'away', prompt: 'count' } };
const sub = { groups: [{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }] };
const agent = (more = {}) => ({ args: { effect: 'read', agent: sub, ...more } });
const next =
  (queue: QueueName): Act =>
  (deps) =>
    taker.deliverUntil(deps, queue);
const wakeStep: Act = async (deps, runId) => {
  for (const { id } of (await listSteps(deps, runId)).steps) await deps.queues.wakeStep({ id: runId }, id);
};

/** A run, and the queue whose next job the stories are about. */
const scenes: Record<string, { spec: RunSpec; queue: QueueName; first?: Act[] }> = {
  'first turn': { spec: scripted([read], [write]), queue: 'turns' },
  'first turn of a run in line': { spec: scripted([read], [write]), queue: 'turns', first: [fillPlace] },
  'turn that a resume asked for': {
    ...{ spec: scripted([read, read], [write]), queue: 'turns' },
    first: [next('steps'), pause, resume],
  },
  'turn of a model': { spec: prompted, queue: 'turns', first: [next('steps'), next('turns')] },
  'turn that waits for a model': { spec: awayModel, queue: 'turns' },
  'turn of an open run': { spec: openSpec(), queue: 'turns', first: [send] },
  'call of an open run': { spec: openSpec(), queue: 'steps', first: [next('turns'), deliver, send, send] },
  'call that reads': { spec: scripted([read, read], [write]), queue: 'steps' },
  'call that writes': { spec: scripted([write, write], [read]), queue: 'steps' },
  'call that plans the next': { spec: scripted([read], [read], [write]), queue: 'steps' },
  'last call of a turn': { spec: scripted([read]), queue: 'steps' },
  'approved call': { spec: held, queue: 'steps', first: [deliver, decide('approve')] },
  'parked call': { spec: held, queue: 'steps', first: [deliver, wakeStep] },
  'call of a model': { spec: prompted, queue: 'steps' },
  'background command': { spec: scripted([{ args: { effect: 'read', background: 'ls' } }], [write]), queue: 'tasks' },
  'calls side by side': {
    spec: specOf([[{ args: { effect: 'workspace', shell: 'a' } }, { args: { effect: 'workspace', shell: 'b' } }]], {
      concurrent: true,
    }),
    queue: 'tasks',
  },
  'start of a sub-agent': { spec: scripted([agent()], [write]), queue: 'tasks' },
  'first turn of a sub-agent': {
    spec: scripted([agent()], [write]),
    queue: 'turns',
    first: [next('tasks'), next('turns')],
  },
  'call of a sub-agent': {
    spec: scripted([agent()], [write]),
    queue: 'steps',
    first: [next('tasks'), next('turns'), next('steps')],
  },
  'merge of a sub-agent': {
    spec: scripted([agent({ merge: 'on_success' })], [write]),
    queue: 'tasks',
    first: [next('tasks'), next('turns'), next('steps'), next('tasks')],
  },
  undo: {
    spec: scripted([read], [write], [read]),
    queue: 'workspaces',
    first: [next('steps'), pause, deliver, undo, resume],
  },
  publish: { spec: scripted([write]), queue: 'workspaces', first: [deliver, publish] },
  discard: { spec: scripted([write]), queue: 'workspaces', first: [deliver, discard] },
};

/** Every second command of a job in `npm run test:crash`; otherwise one of the first and the end of the job, for every third story. */
const isFull = process.env.HOLDPOINT_CRASH === 'full';

test.each(Object.keys(scenes).map((scene, place) => [scene, place] as const))(
  'no wake-up is lost at any moment of the %s',
  async (scene, place) => {
    const { spec, queue, first: before = [] } = scenes[scene] as (typeof scenes)[string];
    const stuck: string[] = [];
    for (const [index, [story, acts]] of Object.entries(stories).entries()) {
      if (!isFull && (index + place) % 3 > 0) continue;
      const first = 1 + (isFull ? (index + place) % 2 : (index * 5) % 13);
      for (let command = first, isLast = false; !isLast; command += isFull ? 2 : 100) {
        await engine.deps.redis.flushall();
        const deps = withPlaces(planning(inMemoryWorker(engine).deps));
        const { runId } = await submitRun(deps, { spec, by: 'test' });
        for (const act of before) await act(deps, runId);
        await next(queue)(deps, runId);
        await perform(deps, runId, acts.before);
        const job = await taker.take(queue);
        if (job === undefined) break;
        let during: Promise<void> | undefined;
        const act = () => (during ??= perform(deps, runId, acts.during));
        const tapped = tapCommands(deps, async (n, send) => {
          // The commands of a connection keep their order.
          if (n >= command) await act();
          return send();
        });
        const end = await job.handle(withPlaces(tapped));
        isLast = during === undefined;
        await act();
        await perform(deps, runId, acts.end);
        await job.end(deps, end);
        await taker.deliverRest(deps);
        const found = await findWork(deps);
        if (found !== undefined) stuck.push(`${story}, ${isLast ? 'at its end' : `command ${command}`}: ${found}`);
      }
    }
    expect(stuck).toEqual([]);
  },
);

/** One run at a time has a place. Each call makes another worker, which knows nothing of the runs of the others. */
function withPlaces(deps: WorkerDeps, now?: () => number): WorkerDeps {
  const { redis, queues } = deps;
  const places = { working: 1, asking: 1 };
  const wake = ({ runId, turn }: { runId: string; turn: number }) => queues.releaseTurn(runId, turn);
  return { ...deps, admission: openAdmission({ redis, workerId: 'w1', places, wake, now }) };
}

/** Its model makes one call that reads and one that writes, and then ends. */
function planning(deps: WorkerDeps): WorkerDeps {
  const calls = [read, write].map(({ args }) => ({ tool: 'count', args }));
  const model: Planner = {
    next: async ({ turn, model, modelWait }) =>
      model === 'away'
        ? waitFor(model, modelWait)
        : turn > 2
          ? { kind: 'finish', message: 'done' }
          : { kind: 'calls', calls, message: 'count' },
  };
  return { ...deps, planners: { ...deps.planners, model } };
}

/** It is away for a day, and answers once it was asked twice. */
function waitFor(model: string, wait: ModelRetrying | undefined): PlannerDecision {
  if ((wait?.failures ?? 0) > 1) return { kind: 'finish', message: 'done', answer: 'done' };
  const now = new Date();
  const until = new Date(now.getTime() + 86_400_000).toISOString();
  const reason = { code: 'EMODELUNAVAILABLE', message: 'away' };
  const counts = { failures: (wait?.failures ?? 0) + 1, tries: 1 };
  return { kind: 'retrying', retrying: { model, next: model, ...counts, since: now.toISOString(), until, reason } };
}

/** What a sweep changes: nothing, when every run has its next job or is at rest. */
async function findWork(deps: WorkerDeps): Promise<string | undefined> {
  const before = await lookAt(deps);
  const later = () => Date.now() + 10_000;
  await sweepOnce({ ...withPlaces(deps, later), now: later });
  const after = await lookAt(deps);
  return before === after ? undefined : `${before} -> ${after}`;
}

async function lookAt(deps: WorkerDeps): Promise<string> {
  const runs = (await listRuns(deps, {}, { limit: 50 })).items.map(({ status, seq }) => `${status} ${seq}`);
  const jobs = await Promise.all(
    queuesInOrder.map(async (name) => {
      const found = await deps.queues[name].getJobs(['waiting', 'prioritized', 'delayed', 'active']);
      return found.map(({ id }) => `${name} ${id}`);
    }),
  );
  return [...runs, ...jobs.flat()].join(', ');
}

/** What the engine refuses is no part of the story. */
async function perform(deps: WorkerDeps, runId: string, acts: Act[] = []): Promise<void> {
  for (const act of acts) await act(deps, runId).catch(unlessEngineError);
}

function unlessEngineError(error: unknown): void {
  if (!(error instanceof EngineError)) throw error;
}
