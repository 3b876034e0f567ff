import * as meaning from '../meaning.ts';

export const runResumed: meaning.Meaning<'run.resumed'> = {
  changes(state, { time, data: { status, used, tools, after, model, by } }, { run }) {
    state.set(run.status, status);
    if (after === 'calls') state.clear(run.awaits_calls);
    state.set(run.budget_from, used);
    state.set(run.tools, tools);
    state.set(run.model, model);
    if (after === 'pause' || after === 'end') {
      state.clear(run.reason);
      state.clear(run.repetition);
    }
    // A person asked for the next try of the model now, or for another model.
    if (by !== undefined) {
      state.clear(run.model_wait);
      state.clear(run.models_left);
    }
    if (after === 'end') {
      state.clear(run.ended_at);
      state.clear(run.message);
      state.clear(run.output);
      // The maintenance may have dropped the tree of the ended run.
      state.set(run.restore, 'due');
    }
    if (status === 'running') state.startClock(time);
  },
  span(trace, { data }) {
    meaning.endWaitsOfRun(trace);
    if (!trace.isAlive) meaning.beginLife(trace, { attributes: {}, links: [] });
    meaning.changeState(trace, data.status);
    meaning.note(trace, meaning.spanKeys.run(trace.life), 'run resumed', {
      [meaning.attribute.resumedAfter]: data.after,
    });
    if (data.status === 'running' && trace.left === 0) trace.due = trace.now;
  },
  audit: {
    learn: (facts) => {
      facts.hasEnded = false;
    },
    record: meaning.runRecord,
  },
};
