import { z } from 'zod';
import { callerKindSchema } from './caller.ts';
import { capabilityReportSchema } from './capabilities.ts';
import { defaultTenant } from './default-tenant.ts';
import { connectionCount } from './events/network/counted.ts';
import { approvalIdSchema, runIdSchema, stepIdSchema, taskIdSchema } from './ids.ts';
import { passkeyAssertionSchema } from './passkey.ts';
import { policyActionSchema } from './policy.ts';
import * as vocabulary from './vocabulary.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const seq = z.int().min(1);

/** The version of the shape below. A reader of another version refuses the record. */
export const auditVersion = 1;

/** Who did something. `kind` is absent for an unknown caller. */
const actorSchema = z.strictObject({ name: z.string(), kind: callerKindSchema.optional() });

/** A text of any length: digest and size of the whole, and the beginning with secrets redacted. */
export const auditTextSchema = z.strictObject({
  digest: z.string().describe('`sha256:` and the SHA-256 of the JSON text as the log has it'),
  bytes: z.int(),
  text: z.string().describe('Secrets are redacted'),
  cut: z.literal(true).optional().describe('`text` is only the beginning'),
});
export type AuditText = z.infer<typeof auditTextSchema>;

/** The range of events in a run's log covered by a record. The ranges of the records of a run follow each other without a gap. */
export const auditLogSchema = z.strictObject({
  run_id: runIdSchema,
  from: seq,
  to: seq,
  digest: sha256.describe('SHA-256 over the stored events: for each `SEQ-0`, a space, its JSON text, a line feed'),
  marks: z
    .string()
    .optional()
    .describe('The first 8 hex digits of the SHA-256 of each event: to say which event was changed'),
});
export type AuditLog = z.infer<typeof auditLogSchema>;

const problem = z.strictObject({ code: z.string(), message: z.string() });

/** The verdict of the policy. Further fields come from the log: policy, version, digest, rule. */
const verdictSchema = z.looseObject({ action: policyActionSchema, reason: z.string().optional() });

const hostSchema = z.strictObject(connectionCount);

const network = {
  hosts: z.array(hostSchema).optional().describe('Places that the call connected to, or tried to'),
  hosts_left_out: z.int().optional().describe('Connections to further places'),
};

const ofRun = { run_id: runIdSchema, submitted_by: actorSchema, event: z.string().describe('The event it is about') };
const ofStep = { ...ofRun, step_id: stepIdSchema, tool: z.string(), toolset: z.string() };
const snapshots = z.strictObject({ before: z.string().nullable(), after: z.string().nullable() });

/** A settled call. */
const callBody = z.strictObject({
  kind: z.literal('call'),
  ...ofStep,
  turn: z.int(),
  index: z.int(),
  name: z.string().optional(),
  call_id: z.string().optional(),
  effect: vocabulary.effectSchema,
  risk: vocabulary.riskSchema,
  args: auditTextSchema.describe('The arguments that ran, or would have run'),
  asked: auditTextSchema.optional().describe('The arguments before a person edited them'),
  verdict: verdictSchema.optional(),
  approvals: z
    .array(
      z.strictObject({
        approval_id: approvalIdSchema,
        kind: vocabulary.approvalKindSchema,
        status: vocabulary.approvalStatusSchema,
        decided_by: actorSchema.optional(),
        action_digest: z.string().optional(),
      }),
    )
    .optional(),
  attempts: z.array(
    z.strictObject({
      attempt: z.int(),
      worker: z.string(),
      started_at: z.string(),
      interrupted: z.string().optional().describe('The code of the reason why it ended without an outcome'),
    }),
  ),
  snapshot: snapshots,
  created_at: z.string(),
  duration_ms: z.number().optional(),
  outcome: z.strictObject({
    status: vocabulary.stepStatusSchema,
    error: problem.optional(),
    result: z.strictObject({ digest: z.string(), bytes: z.int() }).optional(),
  }),
  capabilities: capabilityReportSchema.optional(),
  ...network,
  tasks: z.array(taskIdSchema).optional(),
  inherited_from: stepIdSchema.optional(),
});

/** The proof of a decision by passkey. The challenge covers the decision with the digest of its whole message. */
const proof = {
  assertion: passkeyAssertionSchema.optional(),
  message_digest: z.string().optional().describe('With `assertion`: of the whole message'),
};

/** An approval was requested, decided, expired or canceled. Without a step the approval concerns the publish of the run. */
const approvalBody = z.strictObject({
  kind: z.literal('approval'),
  ...ofRun,
  approval_id: approvalIdSchema,
  step_id: stepIdSchema.optional(),
  tool: z.string().optional(),
  toolset: z.string().optional(),
  about: vocabulary.approvalKindSchema.optional(),
  status: vocabulary.approvalStatusSchema,
  snapshot: z.string().optional(),
  args: auditTextSchema.optional(),
  asked: auditTextSchema.optional().describe('With edit: the arguments before it'),
  action_digest: z.string().optional(),
  reason: z.string().optional(),
  expires_at: z.string().optional(),
  decision: vocabulary.decisionKindSchema.optional(),
  confirm: z.literal('passkey').optional().describe('Who releases the call proves it with a passkey'),
  ...proof,
  votes: z.array(actorSchema.extend(proof)).optional().describe('Everyone who approved, where several had to'),
  rule_id: z.string().optional().describe('The remembered rule that decided; `decided_by` made it'),
  made_rule: z.string().optional().describe('The rule that was made with the decision'),
  expired: z.literal(true).optional().describe('The deadline passed, and the policy lets the call run then'),
  decided_by: actorSchema.optional(),
  message: z.string().optional(),
});

/** A change set reached its source, or did not. */
const publishBody = z.strictObject({
  kind: z.literal('publish'),
  ...ofRun,
  requested_by: actorSchema.optional(),
  snapshot: z.string().optional(),
  status: z.enum(['published', 'conflicted', 'failed', 'rejected']),
  error: problem.optional(),
  detail: auditTextSchema.optional().describe('Where it went, or the conflicts'),
});

/** A background command or a sub-agent ended. */
const taskBody = z.strictObject({
  kind: z.literal('task'),
  ...ofRun,
  task_id: taskIdSchema,
  step_id: stepIdSchema.optional(),
  about: vocabulary.taskKindSchema.optional(),
  status: vocabulary.taskStatusSchema,
  exit_code: z.int().nullable(),
  snapshot: snapshots,
  ...network,
});

/** A run was submitted, steered or ended. */
const runBody = z.strictObject({
  kind: z.literal('run'),
  ...ofRun,
  by: actorSchema.optional(),
  status: vocabulary.runStatusSchema.optional(),
  reason: problem.optional(),
  detail: auditTextSchema.optional().describe('The data of the event'),
});

/** Events without a record of their own kind. */
const logBody = z.strictObject({
  kind: z.literal('log'),
  run_id: runIdSchema,
  unreadable: z.literal(true).optional().describe('An event has not the shape that its type has'),
});

/** Redis went back to an earlier time: sealed events of a run are gone, and its numbering continues at `from`. */
const lossBody = z.strictObject({ kind: z.literal('loss'), run_id: runIdSchema, from: seq, to: seq });

/** A change outside of runs: of a policy, a key, a secret. */
export const auditEntrySchema = z.strictObject({
  id: z.string().min(1).max(100).describe('Unique'),
  time: z.iso.datetime(),
  tenant: z.string().default(defaultTenant),
  by: actorSchema,
  subject: z.string().min(1).max(300).describe('What was changed, for example `policy/default`'),
  action: z.string().min(1).max(100).describe('For example `created`, `changed`, `revoked`'),
  detail: z.json().optional(),
});
export type AuditEntry = z.input<typeof auditEntrySchema>;
const changeBody = z.strictObject({
  kind: z.literal('change'),
  entry_id: z.string(),
  by: actorSchema,
  subject: z.string(),
  action: z.string(),
  detail: auditTextSchema.optional(),
});

const bodies = [callBody, approvalBody, publishBody, taskBody, runBody, logBody, lossBody, changeBody] as const;
/** The content of a record, apart from its place in the chain. */
export const auditBodySchema = z.discriminatedUnion('kind', bodies);
export type AuditBody = z.infer<typeof auditBodySchema>;
export type AuditBodyOf<Kind extends AuditBody['kind']> = Extract<AuditBody, { kind: Kind }>;

/** The chain: every record names the hash of its predecessor. */
const chain = {
  v: z.literal(auditVersion),
  seq: seq.describe('Dense, from 1'),
  prev: sha256.describe('`hash` of the record before; 64 zeros for the first'),
  sealed_at: z.iso.datetime(),
  time: z.iso.datetime().describe('When it happened'),
  tenant: z.string(),
};
const place = {
  log: auditLogSchema.optional(),
  hash: sha256.describe('SHA-256 of the line without this member, which is its last'),
};

export const auditKinds = bodies.map(({ shape }) => shape.kind.value);

/** A line of the audit log. */
export const auditRecordSchema = z.discriminatedUnion(
  'kind',
  bodies.map((body: z.ZodObject) => body.extend({ ...chain, ...place })) as unknown as [
    RecordOption,
    ...RecordOption[],
  ],
);
export type AuditRecord = AuditBody & {
  [Name in keyof typeof chain]: z.infer<(typeof chain)[Name]>;
} & { log?: AuditLog | undefined; hash: string };
/** The compiler cannot follow `extend` over the union: the schema is `auditBodySchema` with the fields of the chain. */
type RecordOption = z.ZodType<AuditRecord, AuditRecord> & z.core.$ZodTypeDiscriminable;

/** The last record: keep a copy elsewhere to detect a replaced end of the log. */
export const auditHeadSchema = z.strictObject({ seq: z.int().min(0), hash: sha256 });
export type AuditHead = z.infer<typeof auditHeadSchema>;

export const auditFindingCodeSchema = z.enum([
  'record_changed',
  'record_missing',
  'record_reordered',
  'record_duplicated',
  'range_broken',
  'head_changed',
  'redis_went_back',
  'assertion_invalid',
  'assertion_missing',
  'event_changed',
  'event_missing',
  'event_reordered',
  'event_added',
]);
export type AuditFindingCode = z.infer<typeof auditFindingCodeSchema>;

/** A difference between the log and its seal, or a decision whose passkey proves nothing. */
export const auditFindingSchema = z.strictObject({
  code: auditFindingCodeSchema,
  message: z.string(),
  record: z.int().optional().describe('Sequence number of the record'),
  file: z.string().optional(),
  line: z.int().optional(),
  run_id: z.string().optional(),
  events: z.array(z.string()).optional().describe('Ids of the events: `SEQ-0`'),
});
export type AuditFinding = z.infer<typeof auditFindingSchema>;

/** Most findings and removed logs named in a report; further ones are counted. */
export const mostFindings = 1000;

export const auditReportSchema = z
  .strictObject({
    ok: z.boolean(),
    head: auditHeadSchema.describe('The last record; 0 and 64 zeros when there is none'),
    records: z.int(),
    runs: z.int().describe('Runs with sealed events'),
    events: z.strictObject({
      sealed: z.int(),
      unsealed: z.int().describe('Events that no record covers yet: they are sealed soon, or when their call settles'),
    }),
    findings: z.array(auditFindingSchema).max(mostFindings),
    findings_total: z.int(),
    removed: z
      .array(
        z.strictObject({
          run_id: z.string(),
          events: z.int(),
          digest: sha256.describe('SHA-256 over the digests of its ranges, as hex text, in their order'),
        }),
      )
      .max(mostFindings)
      .describe('Runs whose log and state are no longer in Redis. This is no finding'),
    removed_total: z.int(),
  })
  .meta({ id: 'AuditReport' });
export type AuditReport = z.infer<typeof auditReportSchema>;

/** The check of an export, without Redis and the data directory. */
export interface ExportReport extends Pick<AuditReport, 'ok' | 'head' | 'records' | 'findings' | 'findings_total'> {
  /** How often records are left out between two that are there. */
  gaps: number;
}
