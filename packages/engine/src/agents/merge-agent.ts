import { ForbiddenChange, isTerminal, type TaskOutcome } from '@holdpoint/contract';
import { forbiddenPaths } from '@holdpoint/policy';
import { findMerge } from '../attempts/find-merge.ts';
import type { WorkerDeps } from '../deps.ts';
import {
  distrustTree,
  endTask,
  failMerge,
  forbiddenChange,
  heads,
  holdForMerge,
  killedOutcome,
  type RunState,
  recordMerge,
  scopeOf,
  type TaskResult,
  type TaskState,
} from '../domain/index.ts';
import { abortReason, HandBack, type JobContext, type JobEnd, readError } from '../jobs/index.ts';
import { append, readRun, readSpec, readTasks } from '../log/index.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { guardTree } from '../trees/inspect-tree.ts';

/** How soon a merge looks again while another writer has the tree, and while an earlier sub-agent merges. */
const waitMs = 500;
const turnMs = 50;
/** A merge names this many paths in the log and counts all. */
const mostNamed = 100;

/**
 * Brings the changes of a sub-agent that succeeded into the tree of its run, between two calls that write. Sub-agents that ended merge in the
 * order in which they began. A merge whose worker was lost is made again on a new tree, so its changes come in exactly once.
 */
export async function mergeAgent(
  deps: WorkerDeps,
  run: RunState,
  task: TaskState,
  context: JobContext,
): Promise<JobEnd | 'again'> {
  if (run.status === 'canceling' || isTerminal(run.status)) {
    const message = 'Its run ended before its changes were merged. They are in the workspace of the sub-agent.';
    await append(deps, run.id, endTask(task, { ...task.outcome, ...killedOutcome({ code: 'EKILLED', message }) }));
    return 'again';
  }
  // The worker that began this merge is presumed dead, and the tree may have a part of it.
  if (run.merging === task.id) {
    const detail = `The worker that merged ${task.id} was lost.`;
    await append(deps, run.id, distrustTree(run, { reason: 'merge_interrupted', detail }));
  }
  const now = await readRun(deps.redis, run.id);
  if (now?.restore === 'due') {
    await reconcile(deps, run.id, context.signal);
    return sleep(deps, waitMs);
  }
  if (now?.seq !== run.seq) return 'again';
  if (run.writer !== '') return sleep(deps, waitMs);
  if (await isBehind(deps, run, task)) return sleep(deps, turnMs);
  const tree = await guardTree(deps, run, task.id, context);
  if (tree !== 'sound') return tree === 'moved' ? 'again' : sleep(deps, waitMs);
  const held = await append(deps, run.id, holdForMerge(run, task));
  if (!held.ok) return sleep(deps, waitMs);
  const holding = { ...run, merging: task.id };
  try {
    const { outcome, snapshot } = await merge(deps, run, task);
    await append(deps, run.id, recordMerge(holding, { ...task, outcome }, snapshot));
  } catch (error) {
    if (abortReason(context.signal) === 'shutdown') throw new HandBack();
    const { problem, retryable } = readError(error);
    if (!(error instanceof ForbiddenChange) && retryable && !context.lastTry) throw error;
    const reason = error instanceof ForbiddenChange ? forbiddenChange(error.paths) : problem;
    await append(deps, run.id, failMerge(holding, task, reason));
  }
  return 'again';
}

const sleep = (deps: WorkerDeps, ms: number): JobEnd => ({ kind: 'sleep', until: deps.now() + ms });

/** Whether a sub-agent that began earlier is about to merge. */
async function isBehind(deps: WorkerDeps, run: RunState, task: TaskState): Promise<boolean> {
  const merging = (await readTasks(deps.redis, run.id)).filter(
    ({ about, status }) => about.kind === 'agent' && status === 'capturing',
  );
  const [first] = merging.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  return first !== undefined && first.id !== task.id;
}

const orderOf = ({ created_at, id }: TaskState): string => `${created_at} ${id}`;

async function merge(deps: WorkerDeps, run: RunState, task: TaskState) {
  const ended: TaskOutcome & { status: TaskResult['status'] } = {
    exit_code: null,
    ...task.outcome,
    status: 'completed',
  };
  const unchanged = { snapshot: run.snapshot ?? '', files_changed: 0, skipped: 0 };
  const found = await findMerge(deps, run, task.id);
  if (found.status === 'refused') {
    return {
      outcome: { ...ended, status: 'failed' as const, exit_code: 1, reason: found.problem },
      snapshot: unchanged,
    };
  }
  const spec = await readSpec(deps, run);
  const message = spec.modes.deterministic ? 'sub-agent' : `sub-agent (${task.id})`;
  const tree = { runId: run.id, epoch: run.lease };
  return deps.workspaces.withFrozen(run.id, async () => {
    await deps.workspaces.admit({ ...tree, after: run.head, writer: heads.task(task.id) });
    // What background commands have written so far is part of what is merged with.
    const ours =
      run.uncaptured === 0
        ? unchanged
        : await deps.workspaces.snapshot({
            ...{
              ...tree,
              parent: unchanged.snapshot,
              scope: scopeOf(run, spec),
              forbids: forbiddenPaths(spec),
              message,
            },
          });
    const merged = await deps.workspaces.merge({ ...tree, parent: ours.snapshot, from: found.from, message });
    switch (merged.status) {
      case 'merged': {
        const { paths, left_out } = merged;
        const named = { paths: paths.slice(0, mostNamed), total: paths.length };
        const rest = left_out === undefined || left_out.length === 0 ? {} : { left_out: left_out.slice(0, mostNamed) };
        const files_changed = ours.files_changed + paths.length;
        return {
          outcome: { ...ended, merged: { ...named, ...rest } },
          snapshot: { snapshot: merged.snapshot, files_changed, skipped: ours.skipped },
        };
      }
      case 'conflict': {
        const { conflicts } = merged;
        const merging = { conflicts: conflicts.slice(0, mostNamed), total: conflicts.length };
        return { outcome: { ...ended, ...conflict(merging), merged: merging }, snapshot: ours };
      }
      default:
        return merged satisfies never;
    }
  });
}

const conflict = ({ conflicts, total }: { conflicts: readonly { path: string }[]; total: number }) => ({
  status: 'failed' as const,
  exit_code: 1,
  reason: {
    code: 'ECONFLICT',
    message: `Nothing was merged: the sub-agent and this run both changed ${namesOf(conflicts)}${total > mostShown ? ` and ${total - mostShown} more files` : ''}.`,
    next: 'Make its changes to these files yourself, or begin it again on the files as they are now.',
  },
});

const mostShown = 10;
const namesOf = (conflicts: readonly { path: string }[]): string =>
  conflicts
    .slice(0, mostShown)
    .map(({ path }) => path)
    .join(', ');
