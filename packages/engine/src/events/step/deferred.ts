import { attribute, endAttempt, isolated, type Meaning, noAudit, open, spanKeys, spanName } from '../meaning.ts';

export const stepDeferred: Meaning<'step.deferred'> = {
  changes(state, { step_id, data: { until, task_id, outside, begins } }, { step }) {
    state.set(step.status(step_id), 'deferred');
    state.set(step.deferred(step_id), { until, task_id, outside, begins });
  },
  span(trace, { seq, step_id, data: { attempt, task_id, begins } }) {
    isolated(trace, spanKeys.attempt(step_id, attempt), begins?.capabilities);
    endAttempt(trace, step_id, attempt, { outcome: 'deferred' });
    const waitFor = task_id === undefined ? 'server' : 'task';
    open(trace, spanKeys.at('wait', seq), {
      kind: 'wait',
      name: spanName.wait(waitFor),
      parent: step_id,
      attributes: { [attribute.waitFor]: waitFor, [attribute.taskId]: task_id, [attribute.stepId]: step_id },
    });
  },
  audit: noAudit,
};
