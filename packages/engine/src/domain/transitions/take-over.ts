import type { EventOf } from '@holdpoint/contract';
import { runField } from '../fields.ts';
import type { RunState } from '../state.ts';
import { headIs, isRestored, leaseIs, seqIs, snapshotIs, type Transition } from '../transition.ts';

/** The tree is not what the log says of it: a new one is made from the snapshot before anything else of the run starts. */
export const distrustTree = (
  run: RunState,
  found: Pick<EventOf<'workspace.distrusted'>['data'], 'reason' | 'detail'>,
): Transition => ({
  if: [leaseIs(run.lease), headIs(run.head), snapshotIs(run.snapshot ?? ''), isRestored],
  events: [{ type: 'workspace.distrusted', data: { epoch: run.lease, ...found } }],
});

/**
 * The workspace has a new epoch: whatever worked on the tree before is stale, and finds so at its next look.
 * @param epoch higher than that of any tree there is
 */
export const takeLease = (run: RunState, worker: string, epoch: number): Transition => ({
  if: [leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch, worker } }],
});

/** The tree of an ended run is about to be dropped; a publish that is asked for now finds it under the next epoch. */
export const leaseToDrop = (run: RunState, worker: string, epoch: number): Transition => ({
  if: [seqIs(run.seq), leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch, worker } }],
});

/** The tree is what the log says again. */
export const recordRestored = (run: RunState): Transition => ({
  if: [{ field: runField.restore, is: ['due'] }, leaseIs(run.lease), snapshotIs(run.snapshot ?? '')],
  events: [{ type: 'workspace.restored', data: { snapshot: run.snapshot ?? '', epoch: run.lease } }],
});
