import { endLife, type Meaning, runRecord } from '../meaning.ts';

export const runCanceled: Meaning<'run.canceled'> = {
  changes(state, { time, data }, { run }) {
    // A killed step may leave changes in the tree. A retry rebuilds the tree first.
    state.set(run.status, 'canceled');
    state.set(run.taken, data.dropped);
    state.set(run.ended_at, time);
    state.clear(run.writer);
    state.clear(run.merging);
  },
  span: (trace) => endLife(trace, 'canceled', {}),
  audit: {
    learn: (facts) => {
      facts.hasEnded = true;
    },
    record: runRecord,
  },
};
