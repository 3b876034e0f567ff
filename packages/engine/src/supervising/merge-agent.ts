import { ForbiddenChange, isSettled, isTerminal, type TaskOutcome } from '@holdpoint/contract';
import { forbiddenPaths } from '@holdpoint/policy';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { guardTree } from '../fencing/inspect-tree.ts';
import { abortReason, HandBack, type JobContext, type JobEnd, readError } from '../jobs/index.ts';
import { append, readRun, readSpec, readTasks, readTurnSteps } from '../log/index.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { findMerge, mergeFrozen } from '../tasks/task-handle.ts';

/** Time to the next try while another writer has the tree. `turnMs`: while an earlier sub-agent merges. */
const waitMs = 500;
const turnMs = 50;
/** Time to the next try while an earlier call is open. Settling the call wakes the merge. */
const callMs = 2000;
/** A merge names this many paths in the log and counts all paths. */
const mostNamed = 100;

/**
 * Merges the changes of a successful sub-agent into the tree of its run, between two writing calls. Sub-agents that ended merge in the
 * order of their beginning. After the loss of a worker the merge runs again on a new tree, so the changes come in exactly once.
 */
export async function mergeAgent(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
  context: JobContext,
): Promise<JobEnd | 'again'> {
  if (run.status === 'canceling' || isTerminal(run.status)) {
    const message = 'Its run ended before its changes were merged. They are in the workspace of the sub-agent.';
    await append(
      deps,
      run.id,
      domain.endTask(task, { ...task.outcome, ...domain.killedOutcome({ code: 'EKILLED', message }) }),
    );
    return 'again';
  }
  // The worker that began this merge is presumed dead, and the tree may hold a part of the merge.
  if (run.merging === task.id) {
    const detail = `The worker that merged ${task.id} was lost.`;
    await append(deps, run.id, domain.distrustTree(run, { reason: 'merge_interrupted', detail }));
  }
  const now = await readRun(deps.redis, run.id);
  if (now?.restore === 'due') {
    await reconcile(deps, run.id, context.signal);
    return sleep(deps, waitMs);
  }
  if (now?.seq !== run.seq) return 'again';
  if (run.writer !== '') return sleep(deps, waitMs);
  const before = await mergesBefore(deps, run, task);
  if (before !== undefined) return sleep(deps, before === 'a merge' ? turnMs : callMs);
  const tree = await guardTree(deps, run, { id: task.id }, context);
  if (tree !== 'sound') return tree === 'moved' ? 'again' : sleep(deps, waitMs);
  const held = await append(deps, run.id, domain.holdForMerge(run, task));
  if (!held.ok) return sleep(deps, waitMs);
  const holding = { ...run, merging: task.id };
  try {
    const { outcome, snapshot } = await merge(deps, run, task);
    await append(deps, run.id, domain.recordMerge(holding, { ...task, outcome }, snapshot));
  } catch (error) {
    if (abortReason(context.signal) === 'shutdown') throw new HandBack();
    const { problem, retryable } = readError(error);
    if (!(error instanceof ForbiddenChange) && retryable && !context.lastTry) throw error;
    const reason = error instanceof ForbiddenChange ? domain.forbiddenChange(error.paths) : problem;
    await append(deps, run.id, domain.failMerge(holding, task, reason));
  }
  return 'again';
}

const sleep = (deps: WorkerDeps, ms: number): JobEnd => ({ kind: 'sleep', until: deps.now() + ms });

/**
 * The kind of work due before the merge of a sub-agent: an open earlier call of the same turn, because a merge takes effect as if the
 * calls ran in sequence; or the merge of an older sub-agent.
 */
async function mergesBefore(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
): Promise<'a call' | 'a merge' | undefined> {
  const steps = await readTurnSteps(deps.redis, run);
  const positionOf = ({ about }: domain.TaskState): number => steps.findIndex(({ id }) => id === about.step_id);
  const earlier = steps.slice(0, Math.max(0, positionOf(task)));
  if (earlier.some(({ status }) => !isSettled(status))) return 'a call';
  // Sub-agents of earlier turns come first. Calls that run side by side begin their sub-agents in any order.
  const orderOf = (one: domain.TaskState): string =>
    `${String(positionOf(one) + 1).padStart(6, '0')} ${one.created_at} ${one.id}`;
  const [first] = (await readTasks(deps.redis, run.id))
    .filter(({ about, status }) => about.kind === 'agent' && status === 'capturing')
    .sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  return first === undefined || first.id === task.id ? undefined : 'a merge';
}

async function merge(deps: WorkerDeps, run: domain.RunState, task: domain.TaskState) {
  const ended: TaskOutcome & { status: domain.TaskResult['status'] } = {
    exit_code: null,
    ...task.outcome,
    status: 'completed',
  };
  const found = await findMerge(deps, run, task.id);
  if (found.status === 'refused') {
    return {
      outcome: { ...ended, status: 'failed' as const, exit_code: 1, reason: found.problem },
      snapshot: { snapshot: run.snapshot ?? '', files_changed: 0, skipped: 0 },
    };
  }
  const spec = await readSpec(deps, run);
  const message = spec.modes.deterministic ? 'sub-agent' : `sub-agent (${task.id})`;
  return deps.workspaces.withFrozen(run.id, async () => {
    await deps.workspaces.admit({
      runId: run.id,
      epoch: run.lease,
      after: run.head,
      writer: domain.heads.task(task.id),
    });
    const given = { from: found.from, spec, message, forbids: forbiddenPaths(spec) };
    const { ours, merged } = await mergeFrozen(deps, run, given);
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
