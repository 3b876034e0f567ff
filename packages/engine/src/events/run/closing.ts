import { type Meaning, noAudit, note, spanKeys } from '../meaning.ts';

export const runClosing: Meaning<'run.closing'> = {
  changes: (state, { data }, { run }) => state.set(run.closing, data),
  span(trace) {
    trace.due = undefined;
    note(trace, spanKeys.run(trace.life), 'run closing');
  },
  audit: noAudit,
};
