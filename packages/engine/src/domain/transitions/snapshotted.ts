import type { NewEvent } from '@holdpoint/contract';
import type { RunState, StepState } from '../model.ts';

/** The tree of a run after an attempt at a call. */
export interface TakenSnapshot {
  snapshot: string;
  parent: string;
  files_changed: number;
  skipped: number;
}

type Attempted = Pick<StepState, 'id' | 'attempt'>;

/** The snapshot that an attempt left; nothing for an attempt without a snapshot. */
export const snapshotted = ({ id: step_id, attempt }: Attempted, taken: TakenSnapshot | undefined): NewEvent[] =>
  taken === undefined ? [] : [{ type: 'workspace.snapshotted', step_id, data: { attempt, ...taken } }];

/** The attempt ends as a writer, and the tree is still at the snapshot of the run. */
export const unchanged = ({ snapshot = '' }: RunState, step: Attempted, skipped = 0): NewEvent[] =>
  snapshotted(step, { snapshot, parent: snapshot, files_changed: 0, skipped });
