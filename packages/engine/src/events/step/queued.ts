import { attribute, type Meaning, queueStep, set } from '../meaning.ts';

export const stepQueued: Meaning<'step.queued'> = {
  changes(state, { step_id, time, data }, { step }) {
    state.set(step.status(step_id), 'queued');
    state.set(step.written(step_id), data.written);
    state.increase(step.queued_ms(step_id), -Date.parse(time));
    state.set(step.args(step_id), data.args);
    state.set(step.answers(step_id), data.answers);
    if (data.args !== undefined) state.clear(step.asked(step_id));
    if (data.args !== undefined) state.clear(step.answers(step_id));
    state.set(step.effect(step_id), data.effect);
  },
  span(trace, { seq, step_id, data }) {
    if (data.effect !== undefined) set(trace, step_id, { [attribute.effect]: data.effect });
    queueStep(trace, seq, step_id);
  },
  audit: {
    learn(facts, { step_id, data }) {
      const call = facts.calls.get(step_id);
      if (call === undefined) return;
      call.verdict ??= { action: 'allow', reason: data.reason };
      if (data.args !== undefined) {
        call.asked ??= call.args;
        call.args = data.args;
      }
      call.effect = data.effect ?? call.effect;
    },
  },
};
