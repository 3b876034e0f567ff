import { endAttempt, type Meaning, noAudit } from '../meaning.ts';

export const stepAsked: Meaning<'step.asked'> = {
  // The status follows from the approval of the same append.
  changes(state, { step_id, data }, { step }) {
    state.set(step.asked(step_id), data);
    state.clear(step.answers(step_id));
  },
  span: (trace, { step_id, data }) => endAttempt(trace, step_id, data.attempt, { outcome: 'asked' }),
  audit: noAudit,
};
