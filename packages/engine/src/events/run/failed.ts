import { endLife, general, type Meaning, runRecord } from '../meaning.ts';

export const runFailed: Meaning<'run.failed'> = {
  changes(state, { time, data }, { run }) {
    state.set(run.status, 'failed');
    state.set(run.reason, data.reason);
    state.endRun(time);
  },
  span: (trace, { data: { reason } }) =>
    endLife(trace, 'failed', { status: 'error', code: reason.code, attributes: { [general.errorType]: reason.code } }),
  audit: {
    learn: (facts) => {
      facts.hasEnded = true;
    },
    record: runRecord,
  },
};
