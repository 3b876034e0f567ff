import { changeState, type Meaning, noAudit } from '../meaning.ts';

export const runStarted: Meaning<'run.started'> = {
  changes(state, { time }, { run }) {
    state.set(run.status, 'running');
    state.set(run.started_at, time);
    state.startClock(time);
  },
  span(trace) {
    changeState(trace, 'running');
    trace.due = trace.now;
  },
  audit: noAudit,
};
