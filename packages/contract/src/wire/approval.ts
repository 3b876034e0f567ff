import { z } from 'zod';
import { changedRepositorySchema, unknownContentSchema } from '../diff.ts';
import { actionChangedSchema } from '../events.ts';
import { approvalIdSchema } from '../ids.ts';
import {
  approvalKindSchema,
  approvalStatusSchema,
  decisionKindSchema,
  effectSchema,
  riskSchema,
  taskStatusSchema,
} from '../vocabulary.ts';
import { cursorOf, integerParameter, listParameter, pageOf } from './page.ts';

const time = z.iso.datetime();

/** A request for a decision. A decision names `action_digest` and applies only to exactly that call on that workspace state. */
export const approvalSchema = z
  .strictObject({
    id: z.string(),
    run_id: z.string(),
    run_title: z.string(),
    step_id: z.string().nullable().describe('null: the approval is about the publish of the run'),
    kind: approvalKindSchema.describe(
      'action: a call. input: a question to a person. indeterminate: a call that may or may not have taken effect. publish: a publish that is held. conflict: a publish with conflicts',
    ),
    status: approvalStatusSchema,
    action: z
      .strictObject({ toolset: z.string(), tool: z.string(), args: z.json(), effect: effectSchema })
      .describe('The requested call; an edit is in `decision`'),
    action_digest: z.string(),
    preview: z.json().describe('What the call would do; null: the call itself shows it'),
    risk: riskSchema,
    reason: z.string().describe('Why it is held'),
    allowed_decisions: z.array(decisionKindSchema),
    requested_at: time,
    expires_at: time,
    may_write: z
      .array(
        z.strictObject({ task_id: z.string(), command: z.string(), status: taskStatusSchema, since: time.nullable() }),
      )
      .describe(
        'Background commands that may still change the files. They are frozen from the check of the files until an approved call has ended. When the check finds changes, nothing runs and the call asks again',
      ),
    unknown: z
      .array(unknownContentSchema)
      .describe(
        'What the run created or changed and no snapshot can hold. The call may find it, and the approval cannot show it',
      ),
    repositories: z
      .array(changedRepositorySchema)
      .describe(
        'Repositories in the workspace that the run created or changed, with the configuration of each nested one. A git command in a nested repository runs the programs that its configuration names',
      ),
    changed: actionChangedSchema
      .nullable()
      .describe('The call was decided before (`approval_id`), and nothing ran because the files had changed since'),
    superseded_by: z
      .string()
      .nullable()
      .describe('The approval that asks again: the files changed after this decision, so nothing ran'),
    decision: z
      .strictObject({
        decision: decisionKindSchema,
        args: z.json().describe('With edit: the arguments that replace those in `action`; otherwise null'),
        message: z.string().nullable(),
        by: z.string(),
        decided_at: time,
      })
      .nullable(),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof approvalSchema>;

export const approvalPageSchema = pageOf(approvalSchema);

/** GET /v1/approvals. Approvals that are not pending are listed per run. */
export const listApprovalsQuerySchema = z
  .strictObject({
    status: listParameter(approvalStatusSchema)
      .default(['pending'])
      .describe('One or more, separated by commas. All but pending need run_id'),
    run_id: z.string().optional().describe('Approvals of this run and of the sub-agents beneath it'),
    limit: integerParameter(1, 200).default(50),
    cursor: cursorOf(approvalIdSchema).optional(),
  })
  .superRefine(({ status, run_id }, context) => {
    if (run_id !== undefined || status.every((one) => one === 'pending')) return;
    context.addIssue({ code: 'custom', path: ['status'], message: 'approvals that are not pending need run_id' });
  });

/** POST /v1/approvals/{id}/decision. */
export const decideSchema = z.strictObject({
  decision: decisionKindSchema,
  action_digest: z.string().min(1).describe('`action_digest` of the approval'),
  args: z
    .record(z.string(), z.json())
    .optional()
    .describe('With edit: the arguments to run with instead; for a conflict {"resolutions": […]}'),
  message: z
    .string()
    .max(100_000)
    .optional()
    .describe('A message that the planner reads with the result; with respond: the answer, which may not be empty'),
});
export type Decide = z.infer<typeof decideSchema>;
