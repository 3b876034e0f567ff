import { runField } from '../fields.ts';
import type { RunState } from '../state.ts';
import { leaseIs, seqIs, snapshotIs, type Transition } from '../transition.ts';

/** The workspace has a new epoch: whatever worked on the tree before is stale, and finds so at its next look. */
export const takeLease = (run: RunState, worker: string): Transition => ({
  if: [leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch: run.lease + 1, worker } }],
});

/** The tree of an ended run is about to be dropped; a publish that is asked for now finds it under the next epoch. */
export const leaseToDrop = (run: RunState, worker: string): Transition => ({
  if: [seqIs(run.seq), leaseIs(run.lease)],
  events: [{ type: 'workspace.leased', data: { epoch: run.lease + 1, worker } }],
});

/** The tree is what the log says again. */
export const recordRestored = (run: RunState): Transition => ({
  if: [{ field: runField.restore, is: ['due'] }, leaseIs(run.lease), snapshotIs(run.snapshot ?? '')],
  events: [{ type: 'workspace.restored', data: { snapshot: run.snapshot ?? '', epoch: run.lease } }],
});
