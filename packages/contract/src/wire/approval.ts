import { z } from 'zod';
import { conflictLinesSchema } from '../conflict-lines.ts';
import { changedRepositorySchema, unknownContentSchema } from '../diff.ts';
import { actionChangedSchema, delegationSchema, voteSchema } from '../events/index.ts';
import { decidersSchema, onExpirySchema, verdictSchema } from '../policy.ts';
import * as vocabulary from '../vocabulary.ts';
import { integerParameter, pageOf } from './page.ts';
import { proposedRuleSchema, ruleInForceSchema } from './remembered-rule.ts';

const time = z.iso.datetime();

/** The proof of a passkey is in the audit log. */
const shownVoteSchema = voteSchema.omit({ assertion: true });

/** The shortened parts of an approval, with their whole length in bytes. */
const cutSchema = z.strictObject({ args: z.int().optional(), preview: z.int().optional() });

/** A request for a decision. A decision names `action_digest` and applies only to exactly this call on this workspace state. */
export const approvalSchema = z
  .strictObject({
    id: z.string(),
    run_id: z.string(),
    run_title: z.string(),
    step_id: z.string().nullable().describe('null: the approval is about the publish of the run'),
    kind: vocabulary.approvalKindSchema.describe(
      'action: a call. input: a question to a person. indeterminate: a call that may or may not have taken effect. publish: a publish that is held. conflict: a publish with conflicts',
    ),
    status: vocabulary.approvalStatusSchema,
    action: z
      .strictObject({ toolset: z.string(), tool: z.string(), args: z.json(), effect: vocabulary.effectSchema })
      .describe('The requested call; an edit is in `decision`'),
    action_digest: z.string(),
    preview: z.json().describe('What the call would do; null: the call itself shows it'),
    readable: z
      .strictObject({
        action: z.string().describe('The call on one line'),
        args: z.string(),
        preview: z.string().nullable(),
        hidden: z.boolean().describe('Some characters are invisible, or imitate others: they are written as <U+200B>'),
      })
      .describe('For a person to read: every character is visible'),
    display: z
      .string()
      .nullable()
      .describe(
        "The question in the words of the toolset's contract, every character visible; null: the contract has none",
      ),
    cut: cutSchema
      .nullable()
      .describe(
        'The arguments or the preview are too long to be shown here, and end with a note that says so. GET …/content has the whole. To approve, name its `content_digest`',
      ),
    reaches: z
      .array(z.string())
      .nullable()
      .describe('The hosts that the call may reach once it is approved; the digest covers them. null: it reaches none'),
    rule: verdictSchema.shape.rule.unwrap().nullable().describe('The rule of the policy that holds the call'),
    deciders: z
      .array(decidersSchema)
      .describe('Who may decide. Every entry must be satisfied. Empty: every caller with approvals:decide'),
    other_policy: z
      .boolean()
      .describe(
        'The run is a fork that has another policy than the run that it continues: rules of that one may not hold here',
      ),
    edited_by: z
      .array(z.string())
      .describe('Who gave the call its arguments in earlier decisions. Under `not_submitter` they may not confirm it'),
    escalated_to: z.array(z.string()).describe('Globs on names of callers who may decide as well by now'),
    delegations: z.array(delegationSchema),
    votes: z.array(shownVoteSchema).describe('Who has approved, where several have to'),
    quorum: z
      .strictObject({ approved: z.int(), needed: z.int(), by: z.array(z.string()) })
      .nullable()
      .describe('Where several callers have to approve: how many did, of how many, and who; null: one decides'),
    on_expiry: onExpirySchema,
    confirm: z
      .literal('passkey')
      .nullable()
      .describe('passkey: to approve, edit or answer, sign the challenge of POST …/challenge with a passkey'),
    remembers: proposedRuleSchema
      .nullable()
      .describe(
        'The rule that `remember` would make: exactly this call but for `leaves_out`, whatever the files that it reads or runs are by then. null: this decision cannot be remembered',
      ),
    remembered: z
      .array(ruleInForceSchema)
      .nullable()
      .describe(
        'The remembered rules in force about this very call, one made with this decision among them. Where they contradict each other, a rejection wins. null: in a list, which does not look them up, and for a publish',
      ),
    risk: vocabulary.riskSchema,
    reason: z.string().describe('Why it is held'),
    allowed_decisions: z.array(vocabulary.decisionKindSchema),
    requested_at: time,
    expires_at: time,
    may_write: z
      .array(
        z.strictObject({
          task_id: z.string(),
          command: z.string(),
          status: vocabulary.taskStatusSchema,
          since: time.nullable(),
        }),
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
    files_unread: z
      .string()
      .nullable()
      .describe(
        'Why `unknown`, `repositories` and `may_write` could not be read: they may be incomplete then. null: they are complete',
      ),
    changed: actionChangedSchema
      .nullable()
      .describe('The call was decided before (`approval_id`), and nothing ran because the files had changed since'),
    superseded_by: z
      .string()
      .nullable()
      .describe(
        'The approval that asks again: the files changed after this decision, so nothing ran; or the one that carries the result of the call (`replaces`)',
      ),
    replaces: z
      .string()
      .nullable()
      .describe(
        'The approval of the same call without its result. Approving this one applies exactly the result shown',
      ),
    preview_request: z
      .strictObject({
        status: z.enum(['running', 'failed']),
        by: z.string().nullable().describe('Who asked'),
        at: time,
        problem: vocabulary.problemSchema.nullable().describe('failed: why there is no result to show'),
      })
      .nullable()
      .describe('A caller asked for the result (POST …/preview): no worker has made it yet, or there is none'),
    decision: z
      .strictObject({
        decision: vocabulary.decisionKindSchema,
        args: z.json().describe('With edit: the arguments that replace those in `action`; otherwise null'),
        message: z.string().nullable(),
        by: z.string(),
        changes: z
          .array(
            z.strictObject({
              pointer: z.string(),
              asked: z.json().optional().describe('Not there: the call had no such argument'),
              ran: z.json().optional().describe('Not there: the edit has no such argument'),
            }),
          )
          .describe('With edit: the arguments that differ between what was asked and what ran'),
        votes: z.array(shownVoteSchema).describe('Everyone who approved, where several had to'),
        made_rule: z.string().nullable().describe('The rule that was made with the decision'),
        rule_id: z.string().nullable().describe('The remembered rule that decided; `by` made it'),
        confirmed: z.boolean().describe('Who released the call proved it with a passkey'),
        expired: z.boolean().describe('The deadline passed, and the policy lets the call run then'),
        decided_at: time,
      })
      .nullable(),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof approvalSchema>;

export const approvalPageSchema = pageOf(approvalSchema);

/** GET /v1/approvals/{id}/content. */
export const approvalContentSchema = z
  .strictObject({
    id: z.string(),
    action_digest: z.string(),
    args: z.json(),
    preview: z.json(),
    patch: z.string().nullable().describe('For a merge: the whole patch of its text files'),
    readable: z.strictObject({ args: z.string(), preview: z.string().nullable() }),
    content_digest: z.string().describe('A decision that names it says that the whole was read'),
  })
  .meta({ id: 'ApprovalContent' });
export type ApprovalContent = z.infer<typeof approvalContentSchema>;

/** GET /v1/approvals/{id}/conflict. */
export const conflictQuerySchema = z.strictObject({
  path: z.string().min(1).describe('A path of `conflicts`'),
  from: integerParameter(1, 100_000_000).default(1).describe('Number of the first hunk'),
  limit: integerParameter(1, 100).default(20),
});

export const conflictViewSchema = conflictLinesSchema
  .extend({
    approval_id: z.string(),
    action_digest: z.string(),
    path: z.string(),
    seen: z.string().nullable().describe('For the resolution'),
  })
  .meta({ id: 'ConflictView' });
export type ConflictView = z.infer<typeof conflictViewSchema>;
