import type { EventOf } from '@holdpoint/contract';
import {
  fieldIs,
  headIs,
  isRestored,
  leaseIs,
  type RunState,
  runField,
  seqIs,
  snapshotIs,
  type Transition,
} from '../model.ts';

/** The tree does not match the log: the tree is rebuilt from the snapshot before anything else of the run starts. */
export const distrustTree = (
  run: RunState,
  found: Pick<EventOf<'workspace.distrusted'>['data'], 'reason' | 'detail'>,
): Transition => ({
  if: [leaseIs(run.lease), headIs(run.head), snapshotIs(run.snapshot ?? ''), isRestored],
  events: [{ type: 'workspace.distrusted', data: { epoch: run.lease, ...found } }],
});

/**
 * Starts a new epoch of the workspace. Every earlier user of the tree is stale and fails its next check.
 * @param epoch higher than the epoch of any existing tree
 */
export const takeLease = (run: RunState, worker: string, epoch: number): Transition => ({
  if: [leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch, worker } }],
});

/** The tree of an ended run is about to be deleted. A publish requested now finds the tree under the next epoch. */
export const leaseToDrop = (run: RunState, worker: string, epoch: number): Transition => ({
  if: [seqIs(run.seq), leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch, worker } }],
});

/** The tree matches the log again. */
export const recordRestored = (run: RunState): Transition => ({
  if: [fieldIs(runField.restore, 'due'), leaseIs(run.lease), snapshotIs(run.snapshot ?? '')],
  events: [{ type: 'workspace.restored', data: { snapshot: run.snapshot ?? '', epoch: run.lease } }],
});
