import { attribute, endAttempt, general, interruptAttempt, type Meaning, note, queueStep } from '../meaning.ts';

export const stepRetried: Meaning<'step.retried'> = {
  changes(state, { step_id, time, data }, { step }) {
    state.set(step.status(step_id), 'queued');
    state.increase(step.queued_ms(step_id), -Date.parse(time));
    state.increase(step.interruptions(step_id));
    if (data.restore) state.requireRestore();
  },
  span(trace, { seq, step_id, data: { attempt, reason } }) {
    const outcome = reason.code === workerLost ? 'lost' : 'retried';
    endAttempt(trace, step_id, attempt, { outcome, code: reason.code });
    note(trace, step_id, 'step retried', { [attribute.attempt]: attempt, [general.errorType]: reason.code });
    queueStep(trace, seq, step_id);
  },
  audit: { learn: interruptAttempt },
};

/** The error code of an attempt whose worker is gone (`handle-step.ts`). */
const workerLost = 'EWORKERLOST';
