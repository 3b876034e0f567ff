import { join } from 'node:path';
import {
  type AgentSpec,
  type Effect,
  limitsSchema,
  nothingEnforced,
  type Problem,
  type PublishPlan,
  planSchema,
  policySchema,
  type RunSpec,
} from '@holdpoint/contract';
import type { z } from 'zod';
import type { WorkerDeps } from '../deps.ts';
import { newId } from '../domain/new-id.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTask } from '../handlers/handle-task.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { handleWorkspace } from '../handlers/handle-workspace.ts';
import { sweep } from '../handlers/sweep.ts';
import type { JobContext } from '../jobs/job.ts';
import { openOutputStore } from '../outputs/output-store.ts';
import { scriptedPlanner } from '../planners/scripted.ts';
import type { ExecutionContext } from '../ports.ts';
import type { TestEngine } from './real-redis.ts';

/** Tools whose effects can be counted: `args.effect` says what a call may change, `args.do` what it does. */
export interface InMemoryWorker {
  deps: WorkerDeps;
  /** Runs without a tree. */
  dropped: Set<string>;
  /** Content of the first run's workspace: one entry per writing call that is visible in it. */
  tree: string[];
  /** The same of any run. */
  treeOf(runId: string): string[];
  /** Every execution, whether its outcome was recorded or not. */
  executions: { stepId: string; attempt: number }[];
  /** Snapshots that reached the source. */
  published: string[];
}

/** What goes wrong, and when: may change while a test runs. */
interface Faults {
  execute?: (context: ExecutionContext) => void | Promise<void>;
  /** Before the background commands of a run stand still. */
  freeze?: () => void | Promise<void>;
  /** While a background command runs. */
  task?: (signal: AbortSignal) => Promise<void>;
  /** The version of the tools. */
  version?: string;
  /** What is wrong with the first tree. */
  tree?: 'other_boot' | 'tree_changed';
  /** A file changed at the source. */
  conflict?: boolean;
  /** What the plan of a publish says it has to leave out. */
  unpublishable?: string[];
  /** The state of the source; a plan holds only while it is the same. */
  source?: number;
}

const noProblem: Problem[] = [];

/** The engine with an executor and a workspace that live in memory: for tests of the engine itself. */
export function inMemoryWorker(engine: TestEngine, faults: Faults = {}): InMemoryWorker {
  const tree: string[] = [];
  const executions: InMemoryWorker['executions'] = [];
  const published: string[] = [];
  const snapshots = new Map<string, string[]>([['0'.repeat(40), []]]);
  const trees = new Map<string, string[]>();
  const treeOf = (runId: string): string[] => {
    const known = trees.get(runId) ?? (trees.size === 0 ? tree : []);
    trees.set(runId, known);
    return known;
  };
  const epochs = new Map<string, number>();
  /** The writer that was let at each tree last, as on disk: it stays when the log goes back. */
  const admitted = new Map<string, string>();
  const dropped = new Set<string>();
  /** As in a real workspace, a call on a tree that was taken over fails. */
  const current = (runId: string, epoch: number): void => {
    if (epoch !== (epochs.get(runId) ?? 1)) {
      throw Object.assign(new Error('another worker took over'), { code: 'ELEASESTALE', retryable: false });
    }
  };
  const bringTo = (runId: string, snapshot: string): void => {
    const content = snapshots.get(snapshot);
    if (!content) throw new Error(`there is no snapshot ${snapshot}`);
    treeOf(runId).splice(0, Number.POSITIVE_INFINITY, ...content);
  };
  const deps: WorkerDeps = {
    ...engine.deps,
    newId,
    workerId: 'test-worker',
    retention: {},
    confirmInstallation: async () => {},
    planners: { scripted: scriptedPlanner, model: { next: async () => ({ kind: 'finish', message: 'done' }) } },
    outputs: openOutputStore(join(engine.directory, 'outputs')),
    metrics: { repaired: () => {} },
    catalog: {
      versions: () => ({ count: faults.version ?? '1' }),
      describe: ({ tool, args }) => {
        if (tool !== 'count') return { ok: false, error: { code: 'EUNKNOWNTOOL', message: `no tool ${tool}` } };
        const { effect, gate, kills } = args as { effect: Effect; gate?: 'input'; kills?: string };
        return {
          ok: true,
          args,
          effect,
          risk: 'low',
          ...(gate === undefined ? {} : { gate }),
          ...(kills !== undefined && { sequential: true }),
        };
      },
    },
    executor: {
      async preview({ args }, { tasks }) {
        const { merges } = args as TestArgs;
        if (merges === undefined) return { kind: 'command', command: 'count', cwd: '.', network: [] };
        const shown = await tasks.previewMerge(merges);
        return shown.status === 'ready'
          ? { kind: 'merge', task_id: merges, ...shown }
          : { kind: 'problem', message: shown.problem.message };
      },
      validate: async ({ name = 'validator', command }, { runId }) => ({
        ...{ name, command, detail: null, stdout: '', stdout_bytes: 0, stderr: '', stderr_bytes: 0, duration_ms: 1 },
        ...(treeOf(runId).length >= Number(command)
          ? { status: 'passed', exit_code: 0 }
          : { status: 'failed', exit_code: 1 }),
        capabilities: nothingEnforced,
      }),
      async execute({ args }, context) {
        const { runId, stepId, attempt, epoch } = context;
        const { effect, fail, looks, background, agent, asks, beside, awaits, merges, kills } = args as TestArgs;
        executions.push({ stepId, attempt });
        current(runId, epoch);
        const seen = looks ? { seen: [...treeOf(runId)] } : {};
        if (effect !== 'read') treeOf(runId).push(stepId);
        await faults.execute?.(context);
        if (background !== undefined) {
          const spec = { command: background };
          return {
            status: 'succeeded',
            value: { task_id: context.taskId },
            task: { kind: 'shell', title: background, spec },
          };
        }
        if (agent !== undefined || asks !== undefined) {
          if (context.deferred) {
            const task = await context.tasks.get(context.deferred.task_id);
            return { status: 'succeeded', value: { task_id: task?.id, status: task?.status } };
          }
          const goal: AgentSpec['goal'] =
            asks === undefined
              ? { planner: 'scripted', plan: planSchema.parse(agent) }
              : { planner: 'model', model: asks, prompt: 'sub' };
          const task = { kind: 'agent' as const, title: 'sub-agent', spec: { goal } };
          if (beside) return { status: 'succeeded', value: { task_id: context.taskId }, task };
          return { status: 'deferred', until: engine.deps.now() + 3_600_000, on: { task } };
        }
        if (awaits !== undefined) {
          const task = await context.tasks.get(awaits);
          if (!task?.outcome && !context.deferred) {
            return { status: 'deferred', until: engine.deps.now() + 3_600_000, on: { task_id: awaits } };
          }
          return { status: 'succeeded', value: { status: task?.status, outcome: task?.outcome ?? null } };
        }
        if (merges !== undefined) return { status: 'succeeded', value: await context.tasks.merge(merges) };
        if (kills !== undefined) return { status: 'succeeded', value: (await context.tasks.kill(kills)) ?? null };
        if (fail) return { status: 'failed', error: { code: 'EASKED', message: 'asked to fail' } };
        return { status: 'succeeded', value: { count: executions.length, ...seen } };
      },
      async runTask({ command }, { runId, epoch, taskId, output, onBegun, signal }) {
        current(runId, epoch);
        onBegun();
        treeOf(runId).push(taskId);
        output.write('stdout', Buffer.from(command));
        await faults.task?.(signal);
        if (signal.aborted) return { status: 'killed', exit_code: null };
        return { status: 'completed', exit_code: 0 };
      },
      killTask: async () => {},
    },
    workspaces: {
      async materialise({ runId }) {
        bringTo(runId, '0'.repeat(40));
        return made('0'.repeat(40));
      },
      async fork({ runId, from }) {
        bringTo(runId, from.snapshot);
        return made(from.snapshot);
      },
      async inspect({ runId, epoch, writer }) {
        if (faults.tree !== undefined && epoch === 1)
          return { status: 'lost', reason: faults.tree, detail: 'asked for' };
        const isSame = epoch === (epochs.get(runId) ?? 1) && writer === (admitted.get(runId) ?? '');
        return isSame ? { status: 'sound' } : { status: 'lost', reason: 'log_went_back', detail: 'another writer' };
      },
      async admit({ runId, after, writer }) {
        if (after !== (admitted.get(runId) ?? '')) throw Object.assign(new Error('moved'), { code: 'EHEADMOVED' });
        admitted.set(runId, writer);
      },
      newestEpoch: async (runId) => epochs.get(runId) ?? 1,
      async snapshot({ runId, epoch }) {
        current(runId, epoch);
        const id = snapshots.size.toString(16).padStart(40, '0');
        snapshots.set(id, [...treeOf(runId)]);
        return { snapshot: id, files_changed: 1, skipped: noProblem.length };
      },
      withFrozen: async (_runId, act) => {
        await faults.freeze?.();
        return act();
      },
      async differenceFrom({ runId, epoch, decided }) {
        current(runId, epoch);
        const before = snapshots.get(decided) ?? [];
        const now = treeOf(runId);
        if (before.length === now.length && before.every((entry, at) => entry === now[at])) return undefined;
        const id = snapshots.size.toString(16).padStart(40, '0');
        snapshots.set(id, [...now]);
        const changes = now
          .filter((entry) => !before.includes(entry))
          .map((path) => ({ path, change: 'added' as const }));
        return { snapshot: id, files_changed: changes.length, skipped: 0, changes, total: changes.length };
      },
      killAll: async () => {},
      restore: async ({ runId, epoch, snapshot }) => {
        current(runId, epoch);
        dropped.delete(runId);
        bringTo(runId, snapshot);
      },
      async takeOver({ runId, epoch, snapshot }) {
        epochs.set(runId, epoch);
        admitted.set(runId, '');
        dropped.delete(runId);
        bringTo(runId, snapshot);
      },
      async merge({ runId, epoch, from }) {
        current(runId, epoch);
        const base = snapshots.get(from.base)?.length ?? 0;
        const changed = (snapshots.get(from.snapshot) ?? []).slice(base);
        treeOf(runId).push(...changed);
        return { status: 'merged', paths: changed };
      },
      async contentOf({ from, to }) {
        const changed = (snapshots.get(to) ?? []).slice(snapshots.get(from)?.length ?? 0);
        return {
          changes: changed.map((path) => ({ path, change: 'added' })),
          total: changed.length,
          patch: '',
          cut: false,
        };
      },
      async planPublish({ snapshot, resolutions }) {
        const settled = Array.isArray(resolutions) && resolutions.length > 0;
        const conflicts = faults.conflict && !settled ? [conflict] : [];
        const { source = 0, unpublishable = [] } = faults;
        return {
          candidate: snapshot,
          digest: `${source}`,
          conflicts,
          unpublishable,
          secrets: [],
          plan: planOf(snapshot),
        };
      },
      async publish({ snapshot, expect }) {
        if (expect !== `${faults.source ?? 0}`) return { status: 'moved' };
        published.push(snapshot);
        return {
          status: 'published',
          published: { type: 'directory', path: '/source', files_written: 1, files_deleted: 0, left_out: [] },
        };
      },
      discard: async () => {},
      hasTree: async (runId) => !dropped.has(runId),
      dropTree: async ({ runId, epoch }) => {
        epochs.set(runId, epoch);
        dropped.add(runId);
      },
      collect: async () => {},
      tidy: async () => [],
    },
  };
  return { deps, tree, treeOf, executions, published, dropped };
}

const planOf = (candidate: string): PublishPlan => ({
  ...{ target: { type: 'directory', path: '/source' }, candidate, files: [], left_out: [], conflicts: [], digest: '' },
});

const conflict = { path: 'a', reason: 'changed_in_source' as const, detail: 'The file changed.', resolvable: true };

const made = (snapshot: string) => ({
  ...{ snapshot, base: '0'.repeat(40), base_commit: null },
  ...{ files: 0, bytes: 0, skipped: 0, submodules: [] },
});

interface TestStep {
  name?: string;
  tool?: string;
  args: Record<string, z.core.util.JSONType>;
}

/** What a call of `count` does beside counting. */
interface TestArgs {
  effect: Effect;
  fail?: boolean;
  /** Returns as `seen` what the workspace held when the call began. */
  looks?: boolean;
  /** Begins a background command with this text as its output. */
  background?: string;
  /** Begins a sub-agent with this plan, and waits for it. */
  agent?: object;
  /** Begins a sub-agent that asks this model, and waits for it. */
  asks?: string;
  /** Does not wait for the sub-agent that it begins. */
  beside?: boolean;
  /** Ids of tasks. */
  awaits?: string;
  merges?: string;
  kills?: string;
}

/** A run of groups of `count` calls. */
export function specOf(
  groups: TestStep[][],
  more: { policy?: object; onError?: 'stop' | 'continue'; validators?: string[] } = {},
): RunSpec {
  return {
    toolset: 'test',
    goal: {
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
    models: [],
    validators: (more.validators ?? []).map((command) => ({ command, timeout_s: 60 })),
    publish: { include_ignored: false },
    labels: {},
    priority: 'normal',
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
    const workspaces = await deps.queues.workspaces.getJobs(['waiting', 'prioritized']);
    const tasks = await deps.queues.tasks.getJobs(['waiting', 'prioritized']);
    const [turn, step, workspace, task] = [turns.at(-1), steps.at(-1), workspaces.at(-1), tasks.at(-1)];
    const next = turn ?? step ?? workspace ?? task;
    if (!next) return;
    deliveries += 1;
    if (deliveries > 500) throw new Error('the run does not come to an end');
    const worker = perJob(deliveries);
    try {
      if (turn) await handleTurn(worker, turn.data, calm());
      else if (step) await handleStep(worker, step.data, calm());
      else if (workspace) await handleWorkspace(worker, workspace.data, calm());
      else if (task) await handleTask(worker, task.data, calm());
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      continue;
    }
    // BullMQ removes a job only when its handler has returned: what the handler added under the same id is lost.
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
    releaseStep: queues.releaseStep,
    addWorkspace: queues.addWorkspace,
    wakeWorkspace: queues.wakeWorkspace,
    wakeTask: queues.wakeTask,
  });
  return {
    deps: { ...deps, redis: guard(deps.redis), queues: { ...queues, ...guarded } },
    died: () => dead.now,
  };
}
