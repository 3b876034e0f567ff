import { z } from 'zod';
import { callerNameSchema } from '../caller.ts';
import { approvalStatusSchema, decisionKindSchema } from '../vocabulary.ts';
import { lineCommentsSchema } from './comment.ts';
import { assertionResponseSchema } from './passkey.ts';

/** The longest life of a remembered rule in seconds: a year. */
const longestRule = 365 * 24 * 3600;

const remember = {
  remember: z
    .enum(['none', 'run', 'policy'])
    .default('none')
    .describe(
      'With approve or reject: the same call is decided in the same way without a question, in this run, or in all runs of the tenant (needs the scope policies:write). `remembers` of the approval shows the rule, `remembered` those that are there',
    ),
  remember_s: z.int().min(1).max(longestRule).optional().describe('Seconds until the rule expires. Default: 30 days'),
  remember_external: z
    .boolean()
    .default(false)
    .describe('With approve: also for a call with effects outside the workspace'),
};

const message = z
  .string()
  .max(100_000)
  .optional()
  .describe('A message that the planner reads with the result; with respond: the answer, which may not be empty');

const seen = {
  action_digest: z.string().min(1).describe('`action_digest` of the approval'),
  content_digest: z.string().min(1).optional().describe('With approve, where the approval is `cut`: of GET …/content'),
};

/** POST /v1/approvals/{id}/decision. */
export const decideSchema = z.strictObject({
  decision: decisionKindSchema,
  ...seen,
  args: z
    .record(z.string(), z.json())
    .optional()
    .describe('With edit: the arguments to run with instead; for a conflict {"resolutions": […]}'),
  on_invalid: z
    .enum(['refuse', 'reject'])
    .default('refuse')
    .describe(
      'With edit, when the new arguments cannot run. refuse: 422, and the approval stays open; reject: the call settles with the reason',
    ),
  message,
  comments: lineCommentsSchema,
  ...remember,
  assertion: assertionResponseSchema
    .optional()
    .describe('Where `confirm` is passkey: the signature of a passkey on the challenge of POST …/challenge'),
});
export type Decide = z.input<typeof decideSchema>;

/** POST /v1/approvals/{id}/challenge: the decision as it will be sent. */
export const challengeDecisionSchema = decideSchema.omit({ assertion: true });
export type ChallengeDecision = z.input<typeof challengeDecisionSchema>;

/** POST /v1/approvals/{id}/delegate. */
export const delegateSchema = z.strictObject({ to: callerNameSchema.describe('Name of the caller who may decide') });
export type Delegate = z.infer<typeof delegateSchema>;

/** POST /v1/approvals/decisions: decides the named pending approvals, or all pending approvals of the filter. */
export const decideManySchema = z
  .strictObject({
    decision: decisionKindSchema.exclude(['edit']),
    message,
    items: z
      .array(z.strictObject({ approval_id: z.string(), ...seen }))
      .min(1)
      .max(1000)
      .optional(),
    filter: z
      .strictObject({
        run_id: z.string(),
        tool: z.string(),
        rule: z.string().describe('Name of the rule that holds the call'),
        label: z.strictObject({ name: z.string(), value: z.string() }),
        older_than_s: z.int().min(0),
      })
      .partial()
      .optional(),
    seen: z
      .array(z.string())
      .max(1000)
      .optional()
      .describe('With `filter`: the action digests that were read. An approval with another one is not decided'),
  })
  .superRefine(({ items, filter, seen: digests }, context) => {
    if ((items === undefined) === (filter === undefined)) {
      context.addIssue({ code: 'custom', path: ['items'], message: 'give either items or filter' });
    }
    if ((filter === undefined) !== (digests === undefined)) {
      context.addIssue({ code: 'custom', path: ['seen'], message: 'seen belongs to filter, and filter needs it' });
    }
  });
export type DecideMany = z.infer<typeof decideManySchema>;

export const decidedManySchema = z.strictObject({
  data: z.array(
    z.strictObject({
      approval_id: z.string(),
      status: approvalStatusSchema.nullable().describe('After this request; null: there is no such approval'),
      problem: z
        .strictObject({ code: z.string(), detail: z.string(), next: z.string() })
        .nullable()
        .describe('Why it was not decided; null: the decision counts'),
    }),
  ),
});
export type DecidedMany = z.infer<typeof decidedManySchema>;
