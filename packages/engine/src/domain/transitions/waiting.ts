import type { NewEvent } from '../events.ts';
import type { RunState } from '../state.ts';
import { type Condition, parkedIs, runIs } from '../transition.ts';

/**
 * A run is `waiting` while any approval is open. Whoever opens or closes one keeps that true: with the number of open approvals as a
 * condition, so that of two racing writers the second looks again.
 */
export function parkedChange(run: RunState, by: number): { if: Condition[]; events: NewEvent[] } {
  const conditions = [parkedIs(run.parked), runIs(run.status)];
  const after = run.parked + by;
  if (run.status === 'running' && after > 0)
    return { if: conditions, events: [{ type: 'run.waiting', data: { for: 'approval' } }] };
  if (run.status === 'waiting' && after === 0) {
    return {
      if: conditions,
      events: [{ type: 'run.resumed', data: { after: 'approval', status: 'running', turn: run.turn } }],
    };
  }
  return { if: conditions, events: [] };
}
