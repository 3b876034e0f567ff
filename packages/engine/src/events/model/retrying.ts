import {
  attribute,
  endWaitForModel,
  type Meaning,
  noAudit,
  open,
  requestFailed,
  spanKeys,
  spanName,
} from '../meaning.ts';

export const modelRetrying: Meaning<'model.retrying'> = {
  changes(state, { data }, { run }) {
    state.set(run.model_wait, data);
    state.set(run.models_left, data.left);
    if (data.usage !== undefined) state.countUsage(data.usage);
  },
  span(trace, { seq, data }) {
    // No request was sent while the turn waited in line.
    if (data.queued) endWaitForModel(trace, trace.now);
    else requestFailed(trace, seq, data.reason.code, data.model);
    trace.askedAgain = Date.parse(data.until);
    const attributes = { [attribute.waitFor]: 'model' };
    open(trace, spanKeys.at('wait', seq), { kind: 'wait', name: spanName.wait('model'), attributes });
  },
  audit: noAudit,
};
