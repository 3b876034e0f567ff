import { attribute, endWaitsOfStep, genAi, type Meaning, open, set, spanKeys, spanName } from '../meaning.ts';

export const stepStarted: Meaning<'step.started'> = {
  changes(state, { step_id, time, data }, { run, step, heads }) {
    state.set(step.status(step_id), 'running');
    state.set(step.attempt(step_id), data.attempt);
    state.set(step.started_at(step_id), time);
    state.set(step.began_at(step_id), data.began_at);
    if (!data.waited) state.increase(step.queued_ms(step_id), Date.parse(time));
    state.set(step.worker(step_id), data.worker);
    if (!data.writes) return;
    state.set(run.writer, step_id);
    state.set(run.head, heads.attempt(step_id, data.attempt));
  },
  span(trace, { step_id, data: { attempt, worker, epoch } }) {
    endWaitsOfStep(trace, step_id);
    const tool = trace.open.get(step_id)?.attributes[genAi.toolName];
    open(trace, spanKeys.attempt(step_id, attempt), {
      kind: 'attempt',
      name: spanName.attempt,
      parent: step_id,
      attributes: {
        [genAi.toolName]: tool,
        [attribute.stepId]: step_id,
        [attribute.attempt]: attempt,
        [attribute.worker]: worker,
        [attribute.epoch]: epoch,
      },
    });
    set(trace, step_id, { [attribute.attempts]: attempt });
  },
  audit: {
    learn(facts, { step_id, time, data: { attempt, worker } }) {
      const call = facts.calls.get(step_id);
      if (call === undefined) return;
      call.before = facts.snapshot;
      call.attempts.push({ attempt, worker, started_at: time });
    },
  },
};
