import { endAttempt, type Meaning, noAudit } from '../meaning.ts';

export const stepHeld: Meaning<'step.held'> = {
  // The status follows from the approval of the same append.
  changes(state, { step_id, data }, { run, step }) {
    state.clear(step.started_at(step_id));
    if (data.writes) state.clear(run.writer);
  },
  span: (trace, { step_id, data }) => endAttempt(trace, step_id, data.attempt, { outcome: 'held' }),
  audit: noAudit,
};
