import { attribute, endAttempt, endWaitsOfStep, general, interruptAttempt, type Meaning, note } from '../meaning.ts';

export const stepIndeterminate: Meaning<'step.indeterminate'> = {
  changes(state, { step_id, data }, { step }) {
    state.set(step.status(step_id), 'indeterminate');
    if (data.restore) state.requireRestore();
  },
  span(trace, { step_id, data: { attempt, reason } }) {
    endWaitsOfStep(trace, step_id);
    endAttempt(trace, step_id, attempt, { outcome: 'indeterminate', code: reason.code });
    note(trace, step_id, 'step indeterminate', { [attribute.attempt]: attempt, [general.errorType]: reason.code });
  },
  audit: { learn: interruptAttempt },
};
