import { type Meaning, note, runRecord, spanKeys } from '../meaning.ts';

export const runMarked: Meaning<'run.marked'> = {
  changes: (state, { time, data }, { run }) => state.set(run.mark, { ...data, at: time }),
  span: (trace, { data }) => note(trace, spanKeys.run(trace.life), `run marked as ${data.mark}`),
  audit: { record: runRecord },
};
