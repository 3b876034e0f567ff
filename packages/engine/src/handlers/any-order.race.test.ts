import { isTerminal, type RunSpec } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { listApprovals } from '../approvals/list-approvals.ts';
import { requestCancelOfStep } from '../commands/cancel-step.ts';
import { finishRun } from '../commands/finish-run.ts';
import { forkRun } from '../commands/fork-run.ts';
import { retryRun } from '../commands/retry-run.ts';
import { sendCalls } from '../commands/send-calls.ts';
import { sendMessage } from '../commands/send-message.ts';
import { requestCancel, requestPause, requestResume } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { undoSteps } from '../commands/undo-run.ts';
import { EngineError } from '../domain/errors.ts';
import { isWaitingForModel, noUsage, type RunState } from '../domain/index.ts';
import type { Planner } from '../ports/index.ts';
import { listRuns } from '../queries/list-runs.ts';
import { listSteps } from '../queries/list-steps.ts';
import { listAgents } from '../queries/list-tree.ts';
import { readCalls } from '../queries/read-calls.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import {
  deliverAll,
  dyingAt,
  type InMemoryWorker,
  inMemoryWorker,
  openSpec,
  specOf,
  sweepOnce,
} from '../testing/index.ts';
import { someOf } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

/** A sub-agent that begins another. */
const nested = {
  effect: 'read',
  agent: {
    groups: [
      { steps: [{ tool: 'count', args: { effect: 'workspace' } }] },
      {
        steps: [
          {
            tool: 'count',
            args: { effect: 'read', agent: { groups: [{ steps: [{ tool: 'count', args: { effect: 'external' } }] }] } },
          },
        ],
      },
    ],
  },
};

const call: fc.Arbitrary<{ args: Record<string, z.core.util.JSONType> }> = fc.record({
  args: fc.oneof<fc.MaybeWeightedArbitrary<Record<string, z.core.util.JSONType>>[]>(
    {
      weight: 8,
      arbitrary: fc.record({ effect: fc.constantFrom('read', 'workspace', 'external'), fail: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.constant({ effect: 'read', background: 'beside' }) },
    { weight: 1, arbitrary: fc.constant(nested) },
    {
      weight: 1,
      arbitrary: fc.constant({
        effect: 'read',
        agent: { groups: [{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }] },
      }),
    },
  ),
});
const groups = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
const rules = fc.array(
  fc.record({
    match: fc.record({ effect: fc.constantFrom('read', 'workspace', 'external') }),
    action: fc.constantFrom('allow', 'hold', 'deny'),
    deciders: fc.option(fc.record({ quorum: fc.integer({ min: 1, max: 3 }) }), { nil: undefined }),
    on_expiry: fc.constantFrom('reject', 'allow'),
  }),
  { maxLength: 3 },
);

/** The run itself, or a sub-agent beneath it. */
const who = fc.integer({ min: 0, max: 3 });

/** Things that happen to a run, in any order. */
const happenings = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('deliver' as const) }),
    fc.record({ kind: fc.constant('die' as const), at: fc.integer({ min: 1, max: 40 }), after: fc.boolean() }),
    fc.record({
      kind: fc.constant('decide' as const),
      who,
      decision: fc.constantFrom('approve' as const, 'reject' as const, 'respond' as const, 'edit' as const),
      deciders: fc.integer({ min: 1, max: 3 }),
      remember: fc.constantFrom(undefined, 'run' as const, 'policy' as const),
    }),
    fc.record({ kind: fc.constant('sweep' as const) }),
    fc.record({ kind: fc.constant('pause' as const), who }),
    fc.record({ kind: fc.constant('resume' as const), who }),
    fc.record({ kind: fc.constant('expire' as const) }),
    fc.record({ kind: fc.constant('undo' as const), to: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ kind: fc.constant('fork' as const), from: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ kind: fc.constant('retry' as const), from: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ kind: fc.constant('say' as const) }),
    fc.record({ kind: fc.constant('send' as const), group: fc.array(call, { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant('idle' as const) }),
    fc.record({ kind: fc.constant('finish' as const) }),
    fc.record({ kind: fc.constant('cancel' as const), who }),
    fc.record({ kind: fc.constant('end a step' as const), who, at: fc.nat({ max: 5 }), twice: fc.boolean() }),
  ),
  { maxLength: 12 },
);
type Happening = typeof happenings extends fc.Arbitrary<(infer Item)[]> ? Item : never;

test.each([
  ['a run', 100, specOf],
  ['an open run', 40, (_: Parameters<typeof specOf>[0], more: Parameters<typeof specOf>[1]) => openSpec(more)],
  ['a run whose model is away at times', 20, askingSpec],
])(
  'whatever happens to %s and in whatever order, its log folds to its state, and it can be brought to an end',
  // A hundred random lives take 20 seconds, or minutes beside other work.
  { timeout: 400_000 },
  async (_, numRuns, toSpec) => {
    await fc.assert(
      fc.asyncProperty(groups, rules, happenings, fc.boolean(), async (plan, policy, all, cancel) => {
        await engine.deps.redis.flushall();
        const { deps: inMemory, treeOf } = inMemoryWorker(engine);
        const deps = { ...inMemory, planners: { ...inMemory.planners, model: awayAtTimes(plan) } };
        const spec = toSpec(plan, { policy: { rules: policy }, onError: 'continue' });
        const { runId } = await submitRun(deps, { spec, by: 'test' });
        for (const happening of all) {
          await happen(deps, runId, happening);
          for (const { id } of (await listRuns(deps, {}, { limit: 50 })).items) await soundLog(deps, id);
        }
        if (cancel) await requestCancel(deps, runId, { by: 'test' }).catch(unlessEngineError);
        await bringToAnEnd(deps, runId);
        await soundLog(deps, runId);
        // The run, and every run that was forked from it or from one of those.
        for (const { id } of (await listRuns(deps, {}, { limit: 50 })).items) {
          if (id !== runId) await bringToAnEnd(deps, id);
          await soundLog(deps, id);
          const { run, steps } = await listSteps(deps, id);
          expect(isTerminal(run.status)).toBe(true);
          await countsItsAgents(deps, run);
          if (run.status !== 'succeeded') continue;
          // Every call that it received was made.
          expect(run.taken).toBe(run.received);
          for (let number = 1; number <= run.received; number++) {
            expect((await readCalls(deps, id, number)).waiting).toEqual([]);
          }
          const alive = steps.filter((step) => step.status !== 'undone');
          const writes = alive.filter((step) => step.effect === 'workspace' && step.outcome?.attempt != null);
          // The changes of a call that was canceled after its worker had died are dropped.
          const wrote = writes.filter(({ status, snapshot }) => status !== 'killed' || snapshot !== undefined);
          const tree = treeOf(id);
          // Nothing of the workspace is there twice, nothing that was recorded is missing, and nothing undone is left.
          // Writes are there in the order in which they were planned.
          const found = tree.filter((step) => wrote.some(({ id }) => id === step));
          expect(found).toEqual(wrote.map((step) => step.id));
          for (const step of steps) if (step.status === 'undone') expect(tree).not.toContain(step.id);
        }
      }),
      { numRuns: someOf(numRuns) },
    );
  },
);

function askingSpec(groups: Parameters<typeof specOf>[0], more: Parameters<typeof specOf>[1]): RunSpec {
  return { ...specOf(groups, more), goal: { planner: 'model', model: 'm', prompt: 'work' } };
}

/** A model that makes these calls. It is away for a day when it is asked for the first time for a turn. */
function awayAtTimes(plan: Parameters<typeof specOf>[0]): Planner {
  const asked = new Set<string>();
  return {
    async next({ runId, turn, model, modelWait }) {
      const isFirst = !asked.has(`${runId} ${turn}`);
      asked.add(`${runId} ${turn}`);
      if (isFirst) {
        const [now, until] = [0, 86_400_000].map((ms) => new Date(Date.now() + ms).toISOString());
        const since = modelWait?.since ?? String(now);
        const counts = { failures: (modelWait?.failures ?? 0) + 1, tries: 1 };
        const reason = { code: 'EMODELUNAVAILABLE', message: 'away' };
        return { kind: 'retrying', retrying: { model, next: model, ...counts, since, until: String(until), reason } };
      }
      const calls = plan[turn - 1]?.map(({ args }) => ({ tool: 'count', args }));
      if (calls === undefined) return { kind: 'finish', message: 'done', answer: 'done' };
      return { kind: 'calls', message: 'calls', answer: 'calls', calls };
    },
  };
}

/** What the log of a run says of its sub-agents is what theirs say. */
async function countsItsAgents(deps: InMemoryWorker['deps'], run: RunState): Promise<void> {
  const all = await listAgents(deps, run);
  const { waiting = 0, approvals = 0, paused = 0, used = noUsage } = run.agents_total ?? {};
  expect([waiting, approvals, paused]).toEqual([0, 0, 0]);
  expect(used.steps).toBe(all.reduce((sum, { steps }) => sum + steps, 0));
  expect(run.agents + used.agents).toBeGreaterThanOrEqual(all.length);
}

async function happen(deps: InMemoryWorker['deps'], runId: string, happening: Happening): Promise<void> {
  switch (happening.kind) {
    case 'deliver':
      return deliverAll(deps);
    case 'sweep':
      return sweepOnce(deps);
    case 'die': {
      const dying = dyingAt(deps, happening.at, happening.after ? 'after' : 'before');
      return deliverAll(deps, () => (dying.died() ? deps : dying.deps));
    }
    case 'pause':
      return requestPause(deps, await idOf(deps, runId, happening.who), 'test').catch(unlessEngineError);
    case 'resume':
      return requestResume(deps, await idOf(deps, runId, happening.who), { by: 'ann' }).catch(unlessEngineError);
    case 'expire': {
      const [view] = await pendingApprovals(deps, runId);
      if (view?.subject !== 'step') return;
      await deps.queues.wakeStep({ id: runId }, view.step.id);
      return deliverAll({ ...deps, now: () => Date.now() + 8 * 24 * 3_600_000 });
    }
    case 'undo':
      await undoSteps(deps, runId, { toStep: happening.to, keepExternalEffects: true, by: 'test' }).catch(
        unlessEngineError,
      );
      return;
    case 'retry':
      await retryRun(deps, runId, { fromStep: happening.from, keepExternalEffects: true, by: 'test' }).catch(
        unlessEngineError,
      );
      return;
    case 'say':
      await sendMessage(deps, runId, { text: 'words', by: 'test' }).catch(unlessEngineError);
      return;
    case 'send': {
      // One call of each has a tool that does not exist.
      const calls = [...happening.group.map(({ args }) => ({ tool: 'count', args })), { tool: 'cuont', args: {} }];
      await sendCalls(deps, runId, { calls, by: 'test' }).catch(unlessEngineError);
      return;
    }
    case 'idle':
      return sweepOnce({ ...deps, now: () => Date.now() + 25 * 3_600_000 });
    case 'finish':
      return finishRun(deps, runId, {}).catch(unlessEngineError);
    case 'cancel':
      return requestCancel(deps, await idOf(deps, runId, happening.who), { by: 'test' }).catch(unlessEngineError);
    case 'end a step': {
      const id = await idOf(deps, runId, happening.who);
      const { steps } = await listSteps(deps, id);
      const stepId = steps.toReversed()[happening.at]?.id ?? 'step_none';
      const end = () => requestCancelOfStep(deps, id, stepId, { by: 'test' }).catch(unlessEngineError);
      await Promise.all(happening.twice ? [end(), end()] : [end()]);
      return;
    }
    case 'fork':
      await forkRun(deps, runId, { fromStep: happening.from, changes: {}, by: 'test' }).catch(unlessEngineError);
      return;
    case 'decide': {
      const run_id = await idOf(deps, runId, happening.who);
      const [view] = (await listApprovals(deps, { run_id }, { limit: 1 })).items;
      if (!view) return;
      const deciders = Array.from({ length: happening.deciders }, (_, index) =>
        decideOn(deps, view, {
          decision: happening.decision,
          message: `decider ${index}`,
          by: `test ${index}`,
          remember:
            happening.remember && happening.decision === 'approve'
              ? { scope: happening.remember, external: true }
              : undefined,
          args: happening.decision === 'edit' ? { effect: 'workspace' } : undefined,
        }).catch(unlessEngineError),
      );
      await Promise.all(deciders);
      return;
    }
    default:
      return happening satisfies never;
  }
}

/** In the newest tree. */
async function idOf(deps: InMemoryWorker['deps'], runId: string, who: number): Promise<string> {
  const { run } = await listSteps(deps, runId);
  return [run, ...(await listAgents(deps, run))][who]?.id ?? runId;
}

async function bringToAnEnd(deps: InMemoryWorker['deps'], runId: string): Promise<void> {
  for (let round = 0; round < 60; round++) {
    await sweepOnce(deps);
    await deliverAll(deps);
    const { run } = await listSteps(deps, runId);
    if (isTerminal(run.status)) return;
    if (run.awaits_calls !== undefined) await finishRun(deps, runId, {});
    // A sub-agent may pause and wait like any other run.
    for (const one of (await listRuns(deps, { status: ['paused', 'waiting'] }, { limit: 50 })).items) {
      if (one.status === 'paused' || isWaitingForModel(one)) await requestResume(deps, one.id, { by: 'ann' });
    }
    for (const view of await pendingApprovals(deps)) {
      for (const by of ['ann', 'bob', 'cy']) await decideOn(deps, view, { by }).catch(unlessEngineError);
    }
  }
}

function unlessEngineError(error: unknown): void {
  if (!(error instanceof EngineError)) throw error;
}
