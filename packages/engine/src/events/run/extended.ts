import { type Meaning, note, runRecord, spanKeys } from '../meaning.ts';

export const runExtended: Meaning<'run.extended'> = {
  changes: (state, { data }, { run }) => state.set(run.budget_from, data.used),
  span: (trace) => note(trace, spanKeys.run(trace.life), 'run extended'),
  audit: { record: runRecord },
};
