import { changeState, endWaitsOfRun, type Meaning, requestFailed, runRecord } from '../meaning.ts';

export const runPaused: Meaning<'run.paused'> = {
  changes(state, { time, data }, { run }) {
    state.set(run.status, 'paused');
    if (data.from === 'waiting') state.clear(run.awaits_calls);
    state.set(run.reason, data.reason);
    if (data.from === 'running') state.stopClock(time);
  },
  span(trace, { seq, data }) {
    if (data.reason.code.startsWith('EMODEL')) requestFailed(trace, seq, data.reason.code);
    endWaitsOfRun(trace);
    changeState(trace, 'paused', data.reason.code);
  },
  audit: { record: runRecord },
};
