import { z } from 'zod';
import { callerKindSchema } from './caller.ts';
import { matchSchema } from './policy-match.ts';
import { decisionKindSchema } from './vocabulary.ts';

export const policyActionSchema = z.enum(['allow', 'hold', 'deny']);
export type PolicyAction = z.infer<typeof policyActionSchema>;

const seconds = z.int().min(1).max(315_360_000);

/** Who may decide a held call. A caller of kind `agent` never decides. */
export const decidersSchema = z
  .strictObject({
    names: z.array(z.string().min(1).max(200)).min(1).max(200).describe('Globs on names of callers'),
    kinds: z.array(callerKindSchema.exclude(['agent'])).min(1),
    quorum: z.int().min(1).max(20).describe('How many different callers must approve. One rejection decides'),
    not_submitter: z.boolean().describe('true: who submitted the run may not decide'),
  })
  .partial();
export type Deciders = z.infer<typeof decidersSchema>;

export const onExpirySchema = z.enum(['reject', 'allow']);
export const escalationSchema = z.strictObject({
  after_s: seconds,
  to: z.array(z.string().min(1).max(200)).min(1).max(50),
});

/** The terms of an approval, from a rule with the action `hold`. */
const approvalTerms = {
  decisions: z
    .array(decisionKindSchema)
    .min(1)
    .max(4)
    .optional()
    .describe('Decisions that are offered; `reject` always is. Default: all'),
  deciders: decidersSchema.optional(),
  expires_s: seconds.optional().describe("Default: the run's `approval_timeout_s`"),
  on_expiry: onExpirySchema
    .optional()
    .describe('What happens when no decision was made. Default: `reject`, nothing runs'),
  preview: z
    .literal('run')
    .optional()
    .describe('Run the call on a throw-away fork without network, and show the result with the approval'),
  confirm: z
    .literal('passkey')
    .optional()
    .describe('Who approves, edits or answers the call proves it with a passkey. A rejection needs none'),
  remind_after_s: seconds.optional(),
  escalate: escalationSchema.optional(),
};

export const policyRuleSchema = z
  .strictObject({
    name: z.string().min(1).max(100).optional(),
    match: matchSchema,
    action: policyActionSchema,
    reason: z.string().max(500).optional(),
    surely: z
      .literal(true)
      .optional()
      .describe(
        'For hold and deny: only what surely matches. Without it they also apply to what may match, such as the program `$X`',
      ),
    ...approvalTerms,
  })
  .meta({ id: 'PolicyRule' });
export type PolicyRule = z.infer<typeof policyRuleSchema>;

/** Rules from a toolset about its own calls. These rules are judged together with the policies, and the strictest verdict counts. */
export interface ToolsetRules {
  rules: readonly PolicyRule[];
  /** Tools whose every call asks, unless a rule of the run or the operator names the tool and decides. */
  asks: readonly string[];
  /**
   * Rules for calls allowed by the toolset's contract without a question: where such a rule allows, the built-in rules hold nothing. A
   * denial by the built-in rules stands.
   */
  auto?: readonly PolicyRule[] | undefined;
}

export const maxRules = 1000;

export const policySchema = z
  .strictObject({
    rules: z
      .array(policyRuleSchema)
      .max(maxRules)
      .default([])
      .describe(
        'For each part of a call (a simple command, a path, a host) the first rule that matches decides, and the strictest verdict is the verdict on the call. No match: the built-in rules decide',
      ),
    publish: z
      .enum(['allow', 'hold', 'passkey'])
      .default('allow')
      .describe(
        'hold: a publish shows its plan and waits for a decision. passkey: as hold, and who approves it or settles its conflicts proves it with a passkey',
      ),
    approval_timeout_s: seconds
      .default(7 * 24 * 3600)
      .describe('Seconds until an open approval expires and its step settles without having run. At most ten years.'),
  })
  .meta({ id: 'Policy' });
export type Policy = z.infer<typeof policySchema>;

/** The operator's policy for every run. This policy can only be stricter than the run's own policy. */
export const operatorPolicySchema = z
  .strictObject({
    rules: policySchema.shape.rules.describe(
      'The first rule that matches decides. No match: the policy of the run alone',
    ),
    publish: policySchema.shape.publish,
  })
  .meta({ id: 'OperatorPolicy' });
export type OperatorPolicy = z.infer<typeof operatorPolicySchema>;

export const policyNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'expected lower case letters, digits and hyphens, at most 63')
  .refine((name) => !['run', 'operator', 'builtin'].includes(name), 'run, operator and builtin are reserved');

/** The name of the operator's policy for the whole installation. */
export const operatorPolicyName = 'operator';

const version = z.int().min(1);
const digest = z.string().describe('`sha256:` and 64 hex digits, of the document as canonical JSON');

/** A named policy in a request: the given version, or the newest. */
export const policyReferenceSchema = z.strictObject({
  name: policyNameSchema,
  version: version.optional().describe('Default: the newest'),
});
export type PolicyReference = z.infer<typeof policyReferenceSchema>;

/** The policy of a run in a request: a document, or the name of a stored policy. */
export const givenPolicySchema = z.union([policySchema, policyReferenceSchema]);
export type GivenPolicy = z.infer<typeof givenPolicySchema>;

/** The version of a named policy at the acceptance of a run. */
export const policyPinSchema = z.strictObject({ name: policyNameSchema, version, digest });
export type PolicyPin = z.infer<typeof policyPinSchema>;

/** A stored policy document. The operator's document has no `approval_timeout_s`. */
export const storedPolicySchema = z.strictObject({
  ...operatorPolicySchema.shape,
  approval_timeout_s: policySchema.shape.approval_timeout_s.unwrap().optional(),
});

/** A version of a named policy. Versions count from 1 and never change. */
export const policyVersionSchema = z.strictObject({
  name: z.union([policyNameSchema, z.literal(operatorPolicyName)]),
  version,
  digest,
  document: storedPolicySchema,
  created_at: z.iso.datetime(),
  by: z.string(),
});
export type PolicyVersion = z.infer<typeof policyVersionSchema>;

/** A part of a call, for a rule to match alone. `detail`: the words of the command, the path or the host. */
export const callPartSchema = z.strictObject({
  kind: z.enum(['call', 'command', 'path', 'host']),
  detail: z.string(),
});
export type CallPart = z.infer<typeof callPartSchema>;

/** The verdict of the policies about a call, recorded with the step. */
export const verdictSchema = z
  .strictObject({
    action: policyActionSchema,
    reason: z.string(),
    rule: z
      .strictObject({
        policy: z.string().describe('`run`, `operator`, `builtin`, `toolset:` and its name, or the name of a policy'),
        version: z.int().optional(),
        digest: z.string(),
        index: z.int().describe('Position in `rules`, from 0'),
        name: z.string().optional(),
      })
      .optional()
      .describe('The rule that decided; absent when no rule matched'),
    part: callPartSchema.optional().describe('The part that the rule matched'),
    lacks: z
      .strictObject({ permission: z.string(), how: z.string().describe('How the run gets it') })
      .optional()
      .describe('The permission or the mode that denies the call, whatever the policies say'),
    ...approvalTerms,
    deciders: z.array(decidersSchema).optional().describe('Every entry must be satisfied: one per rule that holds'),
  })
  .meta({ id: 'Verdict' });
export type Verdict = z.infer<typeof verdictSchema>;

/** The fields of a verdict kept in its approval. */
export const approvalTermsSchema = verdictSchema.pick({
  rule: true,
  part: true,
  deciders: true,
  expires_s: true,
  on_expiry: true,
  confirm: true,
  remind_after_s: true,
  escalate: true,
});
export type ApprovalTerms = z.infer<typeof approvalTermsSchema>;
