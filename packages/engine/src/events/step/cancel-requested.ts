import { type Meaning, note, runRecord } from '../meaning.ts';

export const stepCancelRequested: Meaning<'step.cancel_requested'> = {
  changes: (state, { step_id, time, data }, { step }) => state.set(step.cancel(step_id), { ...data, at: time }),
  span: (trace, { step_id }) => note(trace, step_id, 'cancel requested'),
  audit: { record: runRecord },
};
