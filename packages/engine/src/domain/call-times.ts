import { type CallTimes, fixedTime, type Modes } from '@holdpoint/contract';
import type { StepState } from './state.ts';

/** The times of a settled call. In a deterministic run, a fixed clock gives the times. */
export function timesOf(step: StepState, { deterministic }: Pick<Modes, 'deterministic'>): CallTimes {
  const times = step.outcome?.times ?? measured(step);
  return deterministic ? standingStill(times) : times;
}

function measured(step: StepState): CallTimes {
  const { created_at, started_at = null, began_at = started_at } = step;
  // An undo may remove a call without an outcome.
  const settled_at = step.settled_at ?? started_at ?? created_at;
  const end = Date.parse(settled_at);
  const most = Math.max(0, end - Date.parse(created_at));
  // A call that never left the queue, e.g. because its run was canceled.
  const queued = step.queued_ms < 0 ? step.queued_ms + end : step.queued_ms;
  return {
    created_at,
    started_at: began_at,
    settled_at,
    // Outside of the bounds: an earlier version queued the call and did not count.
    queued_ms: queued >= 0 && queued <= most ? queued : 0,
    duration_ms: began_at === null ? 0 : Math.max(0, end - Date.parse(began_at)),
  };
}

function standingStill({ started_at }: CallTimes): CallTimes {
  const at = new Date(fixedTime).toISOString();
  return {
    created_at: at,
    started_at: started_at === null ? null : at,
    settled_at: at,
    queued_ms: 0,
    duration_ms: 0,
  };
}
