import type { WorkerDeps } from '../deps.ts';
import { newId } from '../domain/ids.ts';
import { planSchema } from '../domain/plan.ts';
import { policySchema } from '../domain/policy.ts';
import { limitsSchema, type RunSpec } from '../domain/run-spec.ts';
import type { Effect, Problem } from '../domain/vocabulary.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import type { JobContext } from '../handlers/job.ts';
import { sweep } from '../handlers/sweep.ts';
import { scriptedPlanner } from '../planners/scripted.ts';
import type { TestEngine } from './real-redis.ts';

/** Tools whose effects can be counted: `args.effect` says what a call may change, `args.do` what it does. */
export interface Bench {
  deps: WorkerDeps;
  /** Content of the workspace: one entry per `append` call that is visible in it. */
  tree: string[];
  /** Every execution, whether its outcome was recorded or not. */
  executions: { stepId: string; attempt: number }[];
}

const noProblem: Problem[] = [];

/** The engine with an executor and a workspace that live in memory: for tests of the engine itself. */
export function bench(engine: TestEngine, faults: { execute?: () => void } = {}): Bench {
  const tree: string[] = [];
  const executions: Bench['executions'] = [];
  const snapshots = new Map<string, string[]>([['0'.repeat(40), []]]);
  const deps: WorkerDeps = {
    ...engine.deps,
    newId,
    workerId: 'test-worker',
    planners: { scripted: scriptedPlanner, model: { next: async () => ({ kind: 'finish', message: 'done' }) } },
    executor: {
      describe: ({ tool, args }) => {
        if (tool !== 'count') return { ok: false, error: { code: 'EUNKNOWNTOOL', message: `no tool ${tool}` } };
        const { effect, gate } = args as { effect: Effect; gate?: 'input' };
        return { ok: true, args, effect, risk: 'low', ...(gate === undefined ? {} : { gate }) };
      },
      preview: async () => ({ kind: 'command', command: 'count' }),
      async execute({ args }, { stepId, attempt }) {
        const { effect, fail } = args as { effect: Effect; fail?: boolean };
        executions.push({ stepId, attempt });
        if (effect !== 'read') tree.push(stepId);
        faults.execute?.();
        if (fail) return { status: 'failed', error: { code: 'EASKED', message: 'asked to fail' } };
        return { status: 'succeeded', value: { count: executions.length } };
      },
    },
    workspaces: {
      materialise: async () => ({ snapshot: '0'.repeat(40), base_commit: null, files: 0, bytes: 0, skipped: 0 }),
      async snapshot() {
        const id = snapshots.size.toString(16).padStart(40, '0');
        snapshots.set(id, [...tree]);
        return { snapshot: id, files_changed: 1, skipped: noProblem.length };
      },
      quiesce: async () => {},
      async restore({ snapshot }) {
        tree.splice(0, tree.length, ...(snapshots.get(snapshot) ?? []));
      },
      publish: async () => ({ status: 'published', published: {} }),
      discard: async () => {},
    },
  };
  return { deps, tree, executions };
}

interface TestStep {
  name?: string;
  tool?: string;
  args: Record<string, string | boolean>;
}

/** A run of groups of `count` calls. */
export function specOf(groups: TestStep[][], more: { policy?: object; onError?: 'stop' | 'continue' } = {}): RunSpec {
  return {
    toolset: 'test',
    task: {
      planner: 'scripted',
      plan: planSchema.parse({
        groups: groups.map((steps) => ({
          on_error: more.onError ?? 'stop',
          steps: steps.map((step) => ({ tool: 'count', ...step })),
        })),
      }),
    },
    source: { type: 'empty' },
    policy: policySchema.parse(more.policy ?? {}),
    limits: limitsSchema.parse({}),
    network: { allow: [] },
    labels: {},
  };
}

const calm = (): JobContext => ({ signal: new AbortController().signal, lastTry: false });

/**
 * Delivers every waiting wake-up to its handler, one at a time, until none is left: a queue whose every delivery can be seen. A handler
 * that throws has died; its job is delivered again.
 * @param perJob the deps of the n-th delivery, from 1
 */
export async function deliverAll(deps: WorkerDeps, perJob: (n: number) => WorkerDeps = () => deps): Promise<void> {
  let deliveries = 0;
  for (;;) {
    const turns = await deps.queues.turns.getJobs(['waiting', 'prioritized']);
    const steps = await deps.queues.steps.getJobs(['waiting', 'prioritized']);
    const next = turns.at(-1) ?? steps.at(-1);
    if (!next) return;
    deliveries += 1;
    if (deliveries > 500) throw new Error('the run does not come to an end');
    const worker = perJob(deliveries);
    const { data } = next;
    try {
      if ('turn' in data) await handleTurn(worker, data, calm());
      else await handleStep(worker, data, calm());
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      continue;
    }
    // BullMQ forgets a job only when its handler is through; what it added meanwhile under the same id is lost, as in life.
    await next.remove();
  }
}

export const sweepOnce = (deps: WorkerDeps): Promise<void> => sweep(deps, new AbortController().signal);

/** Stands for SIGKILL: nothing after it happens. */
export class Died extends Error {
  override name = 'Died';
}

/** The same deps, whose process dies at the n-th command to Redis: before it is sent, or after it took effect. */
export function dyingAt(
  deps: WorkerDeps,
  n: number,
  when: 'before' | 'after',
): { deps: WorkerDeps; died: () => boolean } {
  let commands = 0;
  const dead = { now: false };
  const guard = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(object, key) {
        const value: unknown = Reflect.get(object, key);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          commands += 1;
          const mine = commands;
          if (dead.now || (mine === n && when === 'before')) {
            dead.now = true;
            throw new Died();
          }
          const result: unknown = await Reflect.apply(value, object, args);
          if (mine === n) dead.now = true;
          if (dead.now) throw new Died();
          return result;
        };
      },
    });
  const { queues } = deps;
  const guarded = guard({
    addTurn: queues.addTurn,
    addStep: queues.addStep,
    wakeStep: queues.wakeStep,
    addPublication: queues.addPublication,
  });
  return {
    deps: { ...deps, redis: guard(deps.redis), queues: { ...queues, ...guarded } },
    died: () => dead.now,
  };
}
