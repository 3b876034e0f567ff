import { isSettled } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type StepState } from '../domain/index.ts';
import { listSnapshots, type RunSnapshot } from './list-snapshots.ts';
import type { listSteps } from './list-steps.ts';

/** A moment in a run's past: everything up to and including one step. */
export interface RewindPoint {
  /** The last kept step; null when no step is kept. */
  to: string | null;
  /** The last turn with a kept step; when no step is kept, 0 or the turn of the fork. */
  turn: number;
  /** The kept steps of `turn`, in order. `again` is empty when all steps of the turn are kept. */
  kept: StepState[];
  again: StepState[];
  /** Every step after the moment, including the steps of `again`. */
  after: StepState[];
  /** The steps up to the moment, in order. */
  before: StepState[];
  /** The files before a later step changed them. */
  snapshot: string;
  /** Background commands whose changes are in the snapshot. */
  captured: Set<string>;
}

/**
 * Finds the moment after a step. Steps are in the order of the plan: turn by turn, and within a turn in the planner's order. The files
 * change in this order, too.
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
 * The snapshots that an undo of these steps keeps. The last kept snapshot has the files before the first change by one of the steps. The
 * changes of a background command belong to no step, so all changes captured before are kept.
 */
function snapshotsBefore(snapshots: readonly RunSnapshot[], steps: ReadonlySet<string>): RunSnapshot[] {
  const kept = snapshots.filter(({ undone }) => !undone);
  const end = kept.findIndex(({ by }) => by !== null && 'step' in by && steps.has(by.step));
  return end === -1 ? kept : kept.slice(0, end);
}
