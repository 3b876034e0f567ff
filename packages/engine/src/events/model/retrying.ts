import * as meaning from '../meaning.ts';

export const modelRetrying: meaning.Meaning<'model.retrying'> = {
  changes(state, { data }, { run }) {
    state.set(run.model_wait, data);
    state.set(run.models_left, data.left);
    if (data.usage !== undefined) state.countUsage(data.usage);
  },
  span(trace, { seq, data }) {
    // No request was sent while the turn waited in line.
    if (data.queued) meaning.endWaitForModel(trace, trace.now);
    else meaning.requestFailed(trace, seq, data.reason.code, data.model);
    trace.askedAgain = Date.parse(data.until);
    const attributes = { [meaning.attribute.waitFor]: 'model' };
    meaning.open(trace, meaning.spanKeys.at('wait', seq), {
      kind: 'wait',
      name: meaning.spanName.wait('model'),
      attributes,
    });
  },
  audit: meaning.noAudit,
};
