import { type Meaning, note, runRecord, spanKeys } from '../meaning.ts';

export const runPlanApproved: Meaning<'run.plan_approved'> = {
  changes(state, { step_id }, { run }) {
    state.set(run.plan_approved, step_id);
  },
  span: (trace) => note(trace, spanKeys.run(trace.life), 'plan approved', {}),
  audit: { record: runRecord },
};
