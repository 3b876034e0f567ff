import { z } from 'zod';
import { callerKindSchema } from '../caller.ts';
import { runIdSchema } from '../ids.ts';
import { modesSchema } from '../permissions.ts';
import * as policy from '../policy.ts';
import { settingsSchema } from '../run-spec.ts';
import { decisionKindSchema } from '../vocabulary.ts';
import { cursorOf, damagedListSchema, integerParameter, listOf, pageOf } from './page.ts';

export const storedVersionSchema = policy.policyVersionSchema.meta({ id: 'PolicyVersion' });

/** PUT /v1/policies/{name}: the document. */
export type PutPolicy = z.input<typeof policy.storedPolicySchema>;

/** A version without its document. */
export const policySummarySchema = z
  .strictObject({
    ...policy.policyVersionSchema.omit({ document: true }).shape,
    rules: z.int().describe('Number of rules'),
  })
  .meta({ id: 'PolicySummary' });
export type PolicySummary = z.infer<typeof policySummarySchema>;
export const policyListSchema = listOf(policySummarySchema);
export const policyVersionPageSchema = pageOf(policySummarySchema);

export const policyParamsSchema = z.strictObject({ name: z.string() });
export const policyVersionParamsSchema = z.strictObject({ name: z.string(), version: z.string() });

/** PUT and DELETE /v1/policies/{name}. */
export const changePolicyQuerySchema = z.strictObject({
  if_version: integerParameter(0, 1_000_000)
    .optional()
    .describe('Change it only if this is its version now (409 `policy_changed` otherwise); 0: only if there is none'),
});

export const listVersionsQuerySchema = z.strictObject({
  limit: integerParameter(1, 200).default(50),
  cursor: integerParameter(1, 1_000_000).optional().describe('`next_cursor` of the previous page'),
});

/** An imagined call: the tool's description supplies the absent fields. */
export const imaginedCallSchema = z.strictObject({
  toolset: z.string().min(1).max(64).default('holdpoint'),
  tool: z.string().min(1).max(200),
  args: z.json().default({}),
  network: z.array(z.string().max(300)).max(100).default([]).describe('Hosts that the run may reach'),
  settings: settingsSchema.default({}),
  modes: modesSchema.prefault({}),
  labels: z.record(z.string(), z.string()).default({}),
  submitted_by: z.strictObject({ name: z.string(), kind: callerKindSchema }).optional(),
});
export type ImaginedCall = z.input<typeof imaginedCallSchema>;

/** POST /v1/policies/{name}/test. */
export const testNamedPolicySchema = z.strictObject({
  call: imaginedCallSchema,
  version: z.int().min(1).optional().describe('Default: the newest'),
});
export type TestNamedPolicy = z.input<typeof testNamedPolicySchema>;

/** POST /v1/policies/test. */
export const testPolicySchema = z.strictObject({ call: imaginedCallSchema, policy: policy.storedPolicySchema });
export type TestPolicy = z.input<typeof testPolicySchema>;

const ruleExplanationSchema = z.strictObject({
  index: z.int(),
  name: z.string().optional(),
  action: policy.policyActionSchema,
  outcome: z
    .enum(['decides', 'no_match', 'uncertain', 'after'])
    .describe('uncertain: it may match, which allows nothing. after: a rule before it decides'),
  because: z
    .array(z.strictObject({ pointer: z.string(), detail: z.string() }))
    .describe('The fields of the rule that do not match, or not surely'),
});

/** POST /v1/policies/check. */
export const checkPolicySchema = z.strictObject({
  text: z.string().max(1_048_576).describe('The document as YAML or JSON'),
  name: z.string().max(100).optional().describe('`operator`: it is checked as the policy of the operator'),
});
export type CheckPolicy = z.input<typeof checkPolicySchema>;

/** A check of a text. Its mistakes are no error of the request. */
export const checkedPolicySchema = z
  .strictObject({
    ok: z.boolean(),
    rules: z.int().nullable().describe('Number of rules; null: the text is no policy'),
    digest: z.string().nullable().describe('As of the stored version'),
    document: policy.storedPolicySchema
      .nullable()
      .describe('What the text says, for PUT /v1/policies/{name}; null: it has mistakes'),
    mistakes: z.array(
      z.strictObject({
        pointer: z.string().describe('JSON pointer into the document'),
        detail: z.string(),
        line: z.int().describe('From 1: of the value, or of what encloses it'),
        column: z.int(),
      }),
    ),
  })
  .meta({ id: 'CheckedPolicy' });
export type CheckedPolicy = z.infer<typeof checkedPolicySchema>;

/** The deciding rule of each part of a call, and the reason why each other rule does not decide. */
export const explanationSchema = z
  .strictObject({
    verdict: policy.verdictSchema,
    parts: z.array(
      z.strictObject({
        part: policy.callPartSchema,
        policies: z
          .array(
            z.strictObject({
              name: z.string(),
              version: z.int().optional(),
              rules: z.array(ruleExplanationSchema),
            }),
          )
          .describe('In the order in which they are asked'),
      }),
    ),
  })
  .meta({ id: 'PolicyExplanation' });
export type PolicyExplanation = z.infer<typeof explanationSchema>;

const candidate = z
  .union([policy.storedPolicySchema, policy.policyReferenceSchema])
  .describe('A document, or the name of a stored one');

const period = {
  since: z.iso.datetime({ offset: true }).describe('Runs that were created after this time'),
};

/** POST /v1/policies/replay. */
export const replayPolicySchema = z.strictObject({
  ...period,
  policy: candidate,
  name: z
    .string()
    .optional()
    .describe(
      'Only runs with this named policy. `operator`: the document is judged in place of the policies of the operator. Default: in place of the policy of every run',
    ),
  cursor: cursorOf(runIdSchema).optional(),
});
export type ReplayPolicy = z.input<typeof replayPolicySchema>;

const replayedCallShape = {
  run_id: z.string(),
  step_id: z.string(),
  tool: z.string(),
  args: z.string().describe('The arguments as JSON, cut after 500 characters'),
  at: z.iso.datetime(),
};
const decided = z
  .strictObject({
    kind: z.enum([...decisionKindSchema.options, 'expired']),
    by: z.string().optional(),
    at: z.iso.datetime(),
  })
  .nullable()
  .describe('What a person decided then; null: no person was asked, or none has decided yet');

export const replayedCallSchema = z
  .strictObject({
    ...replayedCallShape,
    was: policy.policyActionSchema.describe('The verdict of then'),
    verdict: policy.verdictSchema.describe('The verdict with the candidate'),
    decided,
  })
  .meta({ id: 'ReplayedCall' });
export type ReplayedCall = z.infer<typeof replayedCallSchema>;

export const unjudgedCallSchema = z
  .strictObject({ ...replayedCallShape, reason: z.string() })
  .meta({ id: 'UnjudgedCall' });
export type UnjudgedCall = z.infer<typeof unjudgedCallSchema>;

/** The verdicts of a candidate policy on past runs. Counts are of this page; add them up. */
export const replayPageSchema = z
  .strictObject({
    runs: z.int(),
    calls: z.int(),
    unchanged: z.int(),
    counts: z.strictObject({ allow: z.int(), hold: z.int(), deny: z.int() }).describe('Calls with another verdict'),
    changed: z.array(replayedCallSchema).describe('Newly allowed first, and of these what people refused'),
    not_judged: z.array(unjudgedCallSchema).describe('Calls whose tool or arguments are not known any more'),
    left_out: z.int().describe('Calls that are counted and not listed'),
    damaged: damagedListSchema,
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'PolicyReplay' });
export type PolicyReplay = z.infer<typeof replayPageSchema>;

/** POST /v1/policies/propose. */
export const proposeRulesSchema = z.strictObject({
  ...period,
  least: z.int().min(1).max(10_000).default(3).describe('Approvals that a proposal needs'),
});
export type ProposeRules = z.input<typeof proposeRulesSchema>;

export const ruleProposalSchema = z
  .strictObject({
    summary: z.string(),
    rules: z.array(policy.policyRuleSchema).describe('To put before the other rules of a policy'),
    approved: z.int().describe('How often people approved'),
    calls: z
      .array(z.strictObject(replayedCallShape))
      .describe('At most 100 of the calls that they would have let through'),
  })
  .meta({ id: 'RuleProposal' });
export type RuleProposal = z.infer<typeof ruleProposalSchema>;

export const ruleProposalsSchema = z
  .strictObject({
    data: z.array(ruleProposalSchema),
    runs: z.int(),
    calls: z.int().describe('Calls that were held, denied or refused'),
    since: z.iso.datetime().describe('Later than asked when there were more calls than one look takes'),
    damaged: damagedListSchema,
  })
  .meta({ id: 'RuleProposals' });
export type RuleProposals = z.infer<typeof ruleProposalsSchema>;
