import { approvalEvent, approvalIdSchema, z } from '../event.ts';

/** A caller with the right to decide gave this right to another caller. */
export const delegationSchema = z.strictObject({ from: z.string(), to: z.string() });
export type Delegation = z.infer<typeof delegationSchema>;

export const approvalDelegated = approvalEvent('approval.delegated', {
  data: {
    approval_id: approvalIdSchema,
    ...delegationSchema.shape,
    delegations: z.array(delegationSchema).describe('All delegations by now; the last one is new'),
  },
  line: ({ data: { from, to } }, { call }) => `${call}: ${from} lets ${to} decide`,
});
