import { z } from 'zod';
import { callerNameSchema } from '../caller.ts';
import { conflictLinesSchema } from '../conflict-lines.ts';
import { changedRepositorySchema, unknownContentSchema } from '../diff.ts';
import { actionChangedSchema, delegationSchema, voteSchema } from '../events/index.ts';
import { idPrefixes } from '../id-prefixes.ts';
import { ruleIdSchema } from '../ids.ts';
import { decidersSchema, onExpirySchema, verdictSchema } from '../policy.ts';
import {
  approvalKindSchema,
  approvalStatusSchema,
  decisionKindSchema,
  effectSchema,
  problemSchema,
  riskSchema,
  taskStatusSchema,
} from '../vocabulary.ts';
import { lineCommentsSchema } from './comment.ts';
import { cursorOf, integerParameter, listParameter, pageOf } from './page.ts';

const time = z.iso.datetime();

/** A call permitted by a remembered rule: exactly these parameters. */
const rememberedCall = {
  toolset: z.string(),
  tool: z.string(),
  args: z.json(),
  effect: effectSchema,
  reaches: z.array(z.string()).nullable().describe('The hosts that the call may reach; null: it reaches none'),
  call_digest: z.string().describe('Digest of all of these. A call with another one is not let through'),
};

/** The rule made from an approval by `remember`. */
const proposedRuleSchema = z.strictObject({
  ...rememberedCall,
  tenant: z.string().describe('With `policy` the rule holds in all runs of this tenant; with `run` in this run'),
  expires_s: z.int().describe('Seconds until it expires, unless the decision says otherwise'),
  needs_external: z.boolean().describe('The call has effects outside the workspace: remember needs `external`'),
});

/** The shortened parts of an approval, with their whole length in bytes. */
const cutSchema = z.strictObject({ args: z.int().optional(), preview: z.int().optional() });

/** A request for a decision. A decision names `action_digest` and applies only to exactly this call on this workspace state. */
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
    votes: z.array(voteSchema).describe('Who has approved, where several have to'),
    quorum: z
      .strictObject({ approved: z.int(), needed: z.int(), by: z.array(z.string()) })
      .nullable()
      .describe('Where several callers have to approve: how many did, of how many, and who; null: one decides'),
    on_expiry: onExpirySchema,
    remembers: proposedRuleSchema
      .nullable()
      .describe(
        'The rule that `remember` would make: exactly this call, whatever the files that it reads or runs are by then. null: this decision cannot be remembered',
      ),
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
        problem: problemSchema.nullable().describe('failed: why there is no result to show'),
      })
      .nullable()
      .describe('A caller asked for the result (POST …/preview): no worker has made it yet, or there is none'),
    decision: z
      .strictObject({
        decision: decisionKindSchema,
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
        votes: z.array(voteSchema).describe('Everyone who approved, where several had to'),
        made_rule: z.string().nullable().describe('The rule that was made with the decision'),
        rule_id: z.string().nullable().describe('The remembered rule that decided; `by` made it'),
        expired: z.boolean().describe('The deadline passed, and the policy lets the call run then'),
        decided_at: time,
      })
      .nullable(),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof approvalSchema>;

export const approvalPageSchema = pageOf(approvalSchema);

const labelParameter = z
  .string()
  .regex(/^[^=]+=/, 'expected name=value')
  .describe('`name=value`: only approvals of runs with this label');

const approvalFilter = {
  run_id: z.string().optional().describe('Approvals of this run and of the sub-agents beneath it'),
  tool: z.string().optional().describe('Only approvals of calls of this tool'),
  rule: z.string().optional().describe('Only approvals that a rule with this name asks for'),
  label: labelParameter.optional(),
  by: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Only approvals that this caller decided, or approved where several have to. A rule decides as its maker',
    ),
};

const timeParameter = z.iso.datetime({ offset: true }).optional();

/** GET /v1/approvals. A page may be short or empty and still have a `next_cursor`: it looks at 20,000 entries of lists at most. */
export const listApprovalsQuerySchema = z
  .strictObject({
    status: listParameter(approvalStatusSchema)
      .optional()
      .describe(
        'One or more, separated by commas. Default: pending; with `by`, `decided_after` or `decided_before`: every other',
      ),
    ...approvalFilter,
    older_than_s: integerParameter(0, 315_360_000)
      .optional()
      .describe('Only approvals requested this many seconds ago'),
    requested_after: timeParameter,
    requested_before: timeParameter,
    decided_after: timeParameter.describe('Only approvals with a decision after this time'),
    decided_before: timeParameter.describe('Only approvals with a decision before this time'),
    order: z
      .enum(['newest', 'oldest', 'expires_first'])
      .default('newest')
      .describe(
        'By the time of the request. `expires_first`, for pending ones: what expires in an earlier second, then the higher risk, then the older',
      ),
    limit: integerParameter(1, 200).default(50),
    cursor: z
      .string()
      .regex(new RegExp(`^(?:\\d{1,15}:)?${idPrefixes.approval}_[0-9a-f-]{36}$`), 'expected the next_cursor of a page')
      .optional()
      .describe('`next_cursor` of the previous page'),
  })
  .transform(({ status, ...rest }) => ({ ...rest, status: status ?? statusesOf(rest) }))
  .superRefine(({ status, order, cursor }, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (order === 'expires_first' && status.some((one) => one !== 'pending')) {
      refuse('order', 'expires_first orders pending approvals: ask for status=pending alone, without by and decided_…');
    }
    if (cursor !== undefined && cursor.includes(':') !== (order === 'expires_first')) {
      refuse('cursor', 'the cursor is of a page in another order: ask for the first page of this order');
    }
  });

const decidedStatuses = approvalStatusSchema.options.filter((status) => status !== 'pending');
const statusesOf = (query: Partial<Record<'by' | 'decided_after' | 'decided_before', string | undefined>>) =>
  [query.by, query.decided_after, query.decided_before].some((value) => value !== undefined)
    ? decidedStatuses
    : [approvalStatusSchema.enum.pending];

/** GET /v1/approvals/counts. */
export const countApprovalsQuerySchema = z.strictObject(approvalFilter);

export const approvalCountsSchema = z
  .strictObject({
    total: z.int(),
    by_status: z.record(approvalStatusSchema, z.int()).describe('The number of approvals of each status'),
    at_least: z
      .array(approvalStatusSchema)
      .describe('With a filter: the statuses that have more than 10,000 approvals, where counting stopped'),
  })
  .meta({ id: 'ApprovalCounts' });
export type ApprovalCounts = z.infer<typeof approvalCountsSchema>;

export type ListApprovalsQuery = z.infer<typeof listApprovalsQuerySchema>;

/** The longest life of a remembered rule in seconds: a year. */
const longestRule = 365 * 24 * 3600;

const remember = {
  remember: z
    .enum(['none', 'run', 'policy'])
    .default('none')
    .describe(
      'With approve: the same call needs no decision any more in this run, or in all runs of the tenant (needs the scope policies:write). `remembers` of the approval shows the rule',
    ),
  remember_s: z.int().min(1).max(longestRule).optional().describe('Seconds until the rule expires. Default: 30 days'),
  remember_external: z.boolean().default(false).describe('Also for a call with effects outside the workspace'),
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
});
export type Decide = z.input<typeof decideSchema>;

/** POST /v1/approvals/{id}/delegate. */
export const delegateSchema = z.strictObject({ to: callerNameSchema.describe('Name of the caller who may decide') });
export type Delegate = z.infer<typeof delegateSchema>;

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

/** A remembered rule. */
export const rememberedRuleSchema = z
  .strictObject({
    id: z.string(),
    scope: z.enum(['run', 'policy']).describe('`run`: in the run alone; `policy`: in all runs of the tenant'),
    run_id: z.string().describe('The run in which it was made'),
    approval_id: z.string().describe('The approval that it was made of'),
    ...rememberedCall,
    created_at: time,
    created_by: z.string(),
    expires_at: time,
    in_force: z.boolean(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'RememberedRule' });
export type RememberedRule = z.infer<typeof rememberedRuleSchema>;
export const rememberedRulePageSchema = pageOf(rememberedRuleSchema);

/** GET /v1/rules. */
export const listRulesQuerySchema = z.strictObject({
  run_id: z.string().optional().describe('Only rules that were made in this run'),
  limit: integerParameter(1, 200).default(50),
  cursor: cursorOf(ruleIdSchema).optional(),
});

const decisionCountsSchema = z.strictObject({
  approve: z.int(),
  edit: z.int(),
  reject: z.int(),
  respond: z.int(),
  expired: z.int(),
});

/** What led to an approval. */
export const approvalContextSchema = z
  .strictObject({
    approval_id: z.string(),
    run_id: z.string(),
    turn: z.int().nullable().describe('The turn of the call; null: a publish'),
    message: z
      .string()
      .nullable()
      .describe('What the model said in that turn; null: a plan, a publish, or too far back'),
    since: z
      .strictObject({ approval_id: z.string(), decision: decisionKindSchema, by: z.string(), at: time })
      .nullable()
      .describe(
        'The last decision of a person in this run before it; null: there was none, so the lists are of the whole run',
      ),
    read: z
      .strictObject({
        calls: z.int().describe('Calls since that decision'),
        files: z.array(z.string()).describe('Paths that their arguments name to read'),
        hosts: z.array(z.string()).describe('`host:port` that they named or connected to'),
        commands: z.array(z.string()).describe('Their command lines, newest first, which may have read more'),
        cut: z.boolean().describe('There is more than these lists have'),
      })
      .describe('What the run read since that decision'),
    decided: z
      .strictObject({
        same: decisionCountsSchema.describe('On calls with the same parameters, as a remembered rule compares them'),
        alike: decisionCountsSchema.describe(
          'On calls of the same tool that begin with the same words, these included',
        ),
        head: z.string().nullable().describe('These words; null: the tool runs no command, and all of its calls count'),
        last: z
          .array(
            z.strictObject({
              run_id: z.string(),
              approval_id: z.string(),
              decision: z.enum([...decisionKindSchema.options, 'expired']),
              by: z.string().nullable(),
              at: time,
              same: z.boolean(),
            }),
          )
          .describe('The newest of them'),
        runs: z.int().describe('Runs that were looked at, newest first'),
        complete: z.boolean().describe('These are all runs of the tenant'),
      })
      .nullable()
      .describe('How people decided on such calls; remembered rules do not count. null: a publish'),
  })
  .meta({ id: 'ApprovalContext' });
export type ApprovalContext = z.infer<typeof approvalContextSchema>;
