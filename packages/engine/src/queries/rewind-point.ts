import { isSettled } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type StepState } from '../domain/index.ts';
import { listSnapshots, type RunSnapshot } from './list-snapshots.ts';
import type { listSteps } from './list-steps.ts';

/** A moment in a run's past: everything up to and including one step. */
export interface RewindPoint {
  /** The last step that is kept; null when none is. */
  to: string | null;
  /** The last turn with a kept step; when no step is kept, 0 or the turn that the run was forked at. */
  turn: number;
  /** Steps of that turn, in order. `again` is empty when the turn is kept whole. */
  kept: StepState[];
  again: StepState[];
  /** Every step after the moment, those of `again` included. */
  after: StepState[];
  /** The steps up to the moment, in order. */
  before: StepState[];
  /** The files before a later step changed them. */
  snapshot: string;
  /** Background commands whose changes are in the snapshot. */
  captured: Set<string>;
}

/**
 * Finds the moment after a step. The order is that of the plan: turn by turn, and within a turn as the planner wrote it; the files change in
 * that order too.
 * @param to a step's id or its number in the list, from 1; 0 is the moment before the first step
 * @throws EngineError `step_not_found`, `step_not_settled`, `workspace_not_ready`
 */
export async function findRewindPoint(
  deps: Pick<EngineDeps, 'redis'>,
  { run, steps }: Pick<Awaited<ReturnType<typeof listSteps>>, 'run' | 'steps'>,
  to: string | number,
): Promise<RewindPoint> {
  const alive = steps.filter((step) => step.status !== 'undone');
  const count = typeof to === 'number' ? to : alive.findIndex((step) => step.id === to) + 1;
  if (count > alive.length || (typeof to === 'string' && count === 0)) {
    throw new EngineError('step_not_found', `the run ${run.id} has no step ${to}`);
  }
  const before = alive.slice(0, count);
  const open = before.find((step) => !isSettled(step.status));
  if (open) throw new EngineError('step_not_settled', `the step ${open.id} is ${open.status}`);
  const last = before.at(-1);
  const turn = last?.call.turn ?? run.forked_from?.turn ?? 0;
  const inTurn = (step: StepState) => step.call.turn === turn;
  const after = alive.slice(count);
  const snapshots = snapshotsBefore(await listSnapshots(deps, run), new Set(after.map(({ id }) => id)));
  const snapshot = snapshots.at(-1)?.id;
  if (snapshot === undefined) throw new EngineError('workspace_not_ready', `the run ${run.id} has no workspace yet`);
  return {
    to: last?.id ?? null,
    turn,
    kept: before.filter(inTurn),
    again: last === undefined ? [] : after.filter(inTurn),
    after,
    before,
    snapshot,
    captured: new Set(
      snapshots.flatMap(({ by }) => (by !== null && 'task' in by && by.task !== undefined ? [by.task] : [])),
    ),
  };
}

/**
 * The snapshots that an undo of these steps keeps. The last of them has the files as they were before the first of the steps changed them:
 * the changes of a background command belong to no step, so all that were captured by then are kept.
 */
function snapshotsBefore(snapshots: readonly RunSnapshot[], steps: ReadonlySet<string>): RunSnapshot[] {
  const kept = snapshots.filter(({ undone }) => !undone);
  const end = kept.findIndex(({ by }) => by !== null && 'step' in by && steps.has(by.step));
  return end === -1 ? kept : kept.slice(0, end);
}
