import { attribute, changeState, type Meaning, noAudit, open, spanKeys } from '../meaning.ts';

export const runWaiting: Meaning<'run.waiting'> = {
  changes(state, { time, data }, { run }) {
    state.set(run.status, 'waiting');
    if (data.for === 'calls') state.set(run.awaits_calls, time);
    state.stopClock(time);
  },
  span(trace, { seq, data }) {
    changeState(trace, 'waiting', data.for);
    if (data.for !== 'calls') return;
    const attributes = { [attribute.waitFor]: 'calls' };
    open(trace, spanKeys.at('wait', seq), { kind: 'wait', name: 'wait calls', attributes });
  },
  audit: noAudit,
};
