import { type Meaning, noAudit, note, spanKeys } from '../meaning.ts';

export const callsReceived: Meaning<'calls.received'> = {
  changes(state, { time, data: { number, by: _, key, request, ...posted } }, { run, received, callsKey }) {
    state.set(run.received, number);
    state.set(received(number), { ...posted, at: time });
    if (key !== undefined && request !== undefined) state.set(callsKey(key), { number, request });
  },
  span: (trace) => note(trace, spanKeys.run(trace.life), 'calls received'),
  audit: noAudit,
};
