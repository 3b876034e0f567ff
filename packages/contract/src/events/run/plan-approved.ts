import { approvalIdSchema, stepEvent, z } from '../event.ts';

/** Ends the plan mode of a run. In one append with the decision about the plan. */
export const runPlanApproved = stepEvent('run.plan_approved', {
  data: { approval_id: approvalIdSchema, by: z.string() },
  line: ({ data: { by } }) => `${by} approved the plan: the run may now change files`,
});
