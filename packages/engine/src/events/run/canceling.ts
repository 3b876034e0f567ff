import { changeState, endWaitsOfRun, type Meaning, runRecord } from '../meaning.ts';

export const runCanceling: Meaning<'run.canceling'> = {
  changes(state, { time, data }, { run }) {
    state.set(run.status, 'canceling');
    if (data.from === 'waiting') state.clear(run.awaits_calls);
    if (data.from === 'running') state.stopClock(time);
  },
  span(trace) {
    endWaitsOfRun(trace);
    changeState(trace, 'canceling');
  },
  audit: { record: runRecord },
};
