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

/** A request for a decision. A decision names `action_digest`, and counts only for exactly that call on that workspace state. */
export const approvalSchema = z
  .strictObject({
    id: z.string(),
    run_id: z.string(),
    run_title: z.string(),
    step_id: z.string().nullable().describe('null: it is about the publish of the run'),
    kind: approvalKindSchema.describe(
      'A call, a question to a person, a call of which nobody knows whether it took effect, a publish that is held, or one that met conflicts',
    ),
    status: approvalStatusSchema,
    action: z
      .strictObject({ toolset: z.string(), tool: z.string(), args: z.json(), effect: effectSchema })
      .describe('As it was asked for; an edit is in `decision`'),
    action_digest: z.string(),
    preview: z.json().describe('What the call would do; null when the call itself says it all'),
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
        'Background commands that may still change the files. They stand still from the look at the files until an approved call has ended; when the files differ by then, nothing runs and the call asks again',
      ),
    unknown: z
      .array(unknownContentSchema)
      .describe(
        'What the run made or changed and no snapshot can hold: what the call may meet and nothing here can show',
      ),
    repositories: z
      .array(changedRepositorySchema)
      .describe(
        'Repositories in the workspace that the run made or changed, with the configuration of each nested one. A git command in a nested repository runs the programs that its configuration names',
      ),
    changed: actionChangedSchema
      .nullable()
      .describe('The call was decided before (`approval_id`), and nothing ran, because the files had changed since'),
    superseded_by: z
      .string()
      .nullable()
      .describe('action_changed: the files changed after this decision, so nothing ran; that approval asks again'),
    decision: z
      .strictObject({
        decision: decisionKindSchema,
        args: z
          .json()
          .describe('With edit: the arguments that ran, or will, in place of those in `action`; otherwise null'),
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
      .describe('One or more, divided by commas. Others than pending need run_id'),
    run_id: z.string().optional().describe('Of this run, and of the sub-agents beneath it'),
    limit: integerParameter(1, 200).default(50),
    cursor: cursorOf(approvalIdSchema).optional(),
  })
  .superRefine(({ status, run_id }, context) => {
    if (run_id !== undefined || status.every((one) => one === 'pending')) return;
    context.addIssue({ code: 'custom', path: ['status'], message: 'approvals which are not pending need run_id' });
  });

/** POST /v1/approvals/{id}/decision. */
export const decideSchema = z.strictObject({
  decision: decisionKindSchema,
  action_digest: z.string().min(1).describe('As the approval showed it'),
  args: z
    .record(z.string(), z.json())
    .optional()
    .describe('With edit: the arguments to run with instead; of a conflict {"resolutions": […]}'),
  message: z
    .string()
    .max(100_000)
    .optional()
    .describe(
      'Words for the planner, which reads them with the result; with respond: the answer, which may not be empty',
    ),
});
export type Decide = z.infer<typeof decideSchema>;
