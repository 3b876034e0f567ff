import type { EventOf } from '@holdpoint/contract';
import * as model from '../model.ts';

/** The tree does not match the log: the tree is rebuilt from the snapshot before anything else of the run starts. */
export const distrustTree = (
  run: model.RunState,
  found: Pick<EventOf<'workspace.distrusted'>['data'], 'reason' | 'detail'>,
): model.Transition => ({
  if: [model.leaseIs(run.lease), model.headIs(run.head), model.snapshotIs(run.snapshot ?? ''), model.isRestored],
  events: [{ type: 'workspace.distrusted', data: { epoch: run.lease, ...found } }],
});

/**
 * Starts a new epoch of the workspace. Every earlier user of the tree is stale and fails its next check.
 * @param epoch higher than the epoch of any existing tree
 */
export const takeLease = (run: model.RunState, worker: string, epoch: number): model.Transition => ({
  if: [model.leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch, worker } }],
});

/** The tree of an ended run is about to be deleted. A publish requested now finds the tree under the next epoch. */
export const leaseToDrop = (run: model.RunState, worker: string, epoch: number): model.Transition => ({
  if: [model.seqIs(run.seq), model.leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch, worker } }],
});

/** The tree matches the log again. */
export const recordRestored = (run: model.RunState): model.Transition => ({
  if: [model.fieldIs(model.runField.restore, 'due'), model.leaseIs(run.lease), model.snapshotIs(run.snapshot ?? '')],
  events: [{ type: 'workspace.restored', data: { snapshot: run.snapshot ?? '', epoch: run.lease } }],
});
