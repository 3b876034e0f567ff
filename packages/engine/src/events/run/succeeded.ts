import { endLife, type Meaning, runRecord } from '../meaning.ts';

export const runSucceeded: Meaning<'run.succeeded'> = {
  changes(state, { time, data }, { run }) {
    state.set(run.status, 'succeeded');
    state.set(run.message, data.message);
    state.set(run.output, data.output);
    state.endRun(time);
  },
  span: (trace) => endLife(trace, 'succeeded', { status: 'ok' }),
  audit: {
    learn: (facts) => {
      facts.hasEnded = true;
    },
    record: runRecord,
  },
};
