import { z } from 'zod';
import { lfsPointersSchema } from './absent-content.ts';
import { agentReportSchema, agentsTotalSchema } from './agent-report.ts';
import { callerKindSchema, tenantSchema } from './caller.ts';
import { capabilityReportSchema } from './capabilities.ts';
import { compactionSchema, instructedSchema, modelRetryingSchema, turnNoteSchema } from './conversation.ts';
import { type HiddenFiles, pathChangeSchema } from './diff.ts';
import { grantSchema } from './grant.ts';
import {
  approvalIdSchema,
  messageIdSchema,
  ruleIdSchema,
  runIdSchema,
  snapshotIdSchema as snapshotId,
  stepIdSchema,
  taskIdSchema,
} from './ids.ts';
import { forkedFromSchema, parentSchema } from './lineage.ts';
import { payloadOf, payloadSchema } from './payload.ts';
import { approvalTermsSchema, verdictSchema } from './policy.ts';
import { postedCallsSchema } from './posted-calls.ts';
import { preparedSchema, prepareFailedSchema, preparingSchema } from './prepare.ts';
import { conflictSummarySchema, type PublishPlan, publishedSchema, type Resolution } from './publish.ts';
import { callTimesSchema, insteadSchema } from './settled-call.ts';
import { beginsSchema, commandUseSchema, taskAboutSchema, taskOutcomeSchema } from './task.ts';
import { toolchainSchema } from './toolchain.ts';
import { traceparentSchema } from './trace-context.ts';
import type { ValidatorResult } from './validation.ts';
import {
  approvalKindSchema,
  decisionKindSchema,
  effectSchema,
  modelAnsweredSchema,
  modelUsageSchema,
  plannerSchema,
  prioritySchema,
  problemSchema,
  publicationStatusSchema,
  riskSchema,
  runStatusSchema,
  taskStatusSchema,
} from './vocabulary.ts';

/** An event type: its name and the shape of its `data`. Events are facts in the past tense; nothing is ever rewritten. */
const event = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  z.strictObject({
    id: z.string(),
    type: z.literal(type),
    run_id: runIdSchema,
    time: z.iso.datetime(),
    data: z.strictObject(data),
  });

/** An event type with the step of the event. */
const stepEvent = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  event(type, data).extend({ step_id: stepIdSchema });

/** The same for events of a step, or of the run's publish. */
const approvalEvent = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  event(type, data).extend({ step_id: stepIdSchema.optional() });

const attempt = z.int().min(1);
const epoch = z.int().min(1);
/** The tree no longer matches the log: the worker rebuilds the tree before anything else of the run starts. */
const restore = z.literal(true).optional();

/** The usage of a run and its sub-agents. A pause resets no count; `active_ms` counts for `wall_s`. */
const usage = {
  turn: z.int(),
  steps: z.int(),
  active_ms: z.int(),
  tokens: z.int(),
  cost_micros: z.int(),
  agents: z.int().default(0),
};
export const usageSchema = z.strictObject(usage);
export type Usage = z.infer<typeof usageSchema>;

/** How many of the last turns in a row had the same calls and results, and in how many nothing succeeded. */
export const repetitionSchema = z.strictObject({ digest: z.string(), same: z.int(), failed: z.int() });
export type Repetition = z.infer<typeof repetitionSchema>;

/** The outcome of a step, without its status. `capabilities` is the sandbox's report of the enforced isolation. */
const settled = {
  attempt: attempt.nullable().describe('null: nothing ran'),
  value: payloadSchema.optional(),
  error: problemSchema.optional(),
  duration_ms: z.number().optional(),
  capabilities: capabilityReportSchema.optional(),
  command: commandUseSchema.optional().describe('What the command of the call used'),
  inherited_from: stepIdSchema.optional().describe('The step of the original run that had this outcome'),
  grants: z.array(grantSchema).optional().describe('With inherited_from: the decisions that let it run there'),
  times: callTimesSchema.optional().describe('With inherited_from: when it was made, began and ended there'),
  instead: insteadSchema.optional().describe('Set when the tool did not return the value'),
  usage: modelUsageSchema
    .optional()
    .describe('What models used that its tool asked, as far as no `step.model_used` has it'),
  restore,
  writes: z.literal(true).optional().describe('The step was the writer of the tree, and is no more'),
};

/** The last calls of an answer with more calls than a turn may have. They become no steps and never run. */
export const refusedCallsSchema = z.strictObject({ calls: z.int().min(1), error: problemSchema });
export type RefusedCalls = z.infer<typeof refusedCallsSchema>;

/** The report of a sub-agent, and the total over all sub-agents of the run. */
const report = { task_id: taskIdSchema, report: agentReportSchema, total: agentsTotalSchema };

/** The fields of a run in lists. */
export const runHeaderSchema = z.strictObject({
  title: z.string(),
  toolset: z.string(),
  planner: plannerSchema,
  model: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  priority: prioritySchema.optional(),
  dry_run: z.literal(true).optional(),
});

export const toolVersionsSchema = z
  .record(z.string(), z.string())
  .describe('Version of each tool of the toolset: a digest of its schema');

/** How a run ends when its tasks are over. */
export const closingSchema = z.strictObject({
  as: z.enum(['succeeded', 'failed']),
  message: z.string(),
  reason: problemSchema.optional(),
  output: payloadSchema.optional(),
});

const runEvents = [
  event('run.created', {
    spec: payloadSchema,
    ...runHeaderSchema.shape,
    created_by: z.string(),
    tenant: tenantSchema.optional().describe('Default: `default`'),
    tools: toolVersionsSchema.optional(),
    forked_from: forkedFromSchema.optional(),
    parent: parentSchema.optional(),
    traceparent: traceparentSchema.optional().describe('The span of its caller, by W3C Trace Context'),
    tracestate: z.string().optional(),
    linked_trace_id: z
      .string()
      .optional()
      .describe('The trace of the run that it continues or works for, when that run has a traceparent'),
  }),
  event('run.started', {}),
  event('run.waiting', { for: z.enum(['approval', 'task', 'calls', 'model']) }),
  event('run.resumed', {
    after: z.enum(['approval', 'task', 'pause', 'end', 'calls', 'model']),
    status: z.enum(['queued', 'running', 'waiting']),
    turn: z.int(),
    used: usageSchema.optional().describe('After a pause: limits count from here'),
    tools: toolVersionsSchema.optional().describe('The versions that the run continues with, when they changed'),
    model: z.string().optional().describe('The model that it continues with, when a person changed it'),
    by: z.string().optional(),
  }),
  event('run.extended', {
    used: usageSchema.describe('Limits count from here, as after a pause'),
    by: z.string(),
  }),
  event('run.paused', { reason: problemSchema, from: runStatusSchema.optional() }),
  event('run.rewound', {
    by: z.string(),
    to_step: stepIdSchema.nullable().describe('The last step that is kept; null: none is'),
    turn: z.int(),
    steps: z.array(stepIdSchema).describe('The steps of that turn: the kept ones, then new ones'),
    open: z.int(),
    snapshot: snapshotId,
    lost_tasks: z.array(taskIdSchema).optional().describe('Their changes are undone, although their steps stay'),
    undone: z.array(z.strictObject({ id: stepIdSchema, name: z.string().optional() })),
  }),
  event('run.forked', { child: runIdSchema, step_id: stepIdSchema.nullable(), snapshot: snapshotId }),
  event('run.closing', closingSchema.shape),
  event('run.canceling', { by: z.string(), message: z.string().optional(), from: runStatusSchema.optional() }),
  event('run.canceled', {
    dropped: z.int().optional().describe('The calls that were received up to this number are never made'),
  }),
  event('run.succeeded', {
    message: z.string(),
    output: payloadSchema.optional().describe('The final answer as a JSON value, when the goal has an `output_schema`'),
  }),
  event('run.failed', { reason: problemSchema }),
  event('turn.planned', {
    turn: z.int().min(1),
    steps: z.array(stepIdSchema),
    message: z.string(),
    answer: payloadSchema.optional().describe("the model's whole answer, provider metadata included"),
    usage: modelUsageSchema.optional().describe('What the model used; cost in millionths of a US dollar'),
    repetition: repetitionSchema.optional().describe('Over the turns before'),
    messages_read: z.int().optional().describe('How many of the messages to the run the planner had read'),
    refused: refusedCallsSchema.optional(),
    received: z.int().min(1).optional().describe('The number of the received calls that it makes'),
    asked_at: z.iso.datetime().optional().describe('When the planner was asked'),
    answered: modelAnsweredSchema.optional(),
    note: turnNoteSchema.optional().describe('What the model reads after this answer, before its next turn'),
  }),
  event('context.instructed', instructedSchema.shape),
  event('context.compacted', compactionSchema.shape),
  event('model.retrying', modelRetryingSchema.shape),
  event('calls.received', {
    number: z.int().min(1).describe('Each request of calls to the run has a number, from 1'),
    by: z.string(),
    ...postedCallsSchema.shape,
    key: z.string().optional().describe('Digest of the Idempotency-Key'),
    request: z.string().optional().describe('Digest of the request that had this key'),
  }),
  event('message.received', { message_id: messageIdSchema, text: z.string(), by: z.string() }),
  event('run.repaired', {
    class: z.enum([
      'queued_without_job',
      'decided_but_parked',
      'orphaned_delayed_job',
      'turn_without_successor',
      'running_without_heartbeat',
      'expired',
      'workspace_without_job',
      'task_without_job',
      'parent_not_notified',
      'wait_not_reported',
      'approval_not_indexed',
      'waiting_for_free_place',
    ]),
    subject: z.string().optional().describe('The step or task it was about'),
  }),
] as const;

/** A planned call, without its arguments. */
export const callSchema = z.strictObject({
  turn: z.int().min(1),
  index: z.int().min(0),
  name: z.string().optional(),
  call_id: z.string().optional().describe("The model's id for this call"),
  tool: z.string(),
  effect: effectSchema,
  risk: riskSchema,
  gate: z.literal('input').optional(),
  sequential: z.literal(true).optional(),
  beside: z
    .literal(true)
    .optional()
    .describe('It runs beside other calls of its turn, as a background command that writes in its place'),
  looks: z.literal(true).optional().describe('The tool may have a question when it sees the workspace'),
  reads: z
    .array(z.string())
    .optional()
    .describe(
      'Its command was let through because it only reads: it runs with these programs alone, its tree read-only and without a network, so `effect` is `read`',
    ),
  verdict: verdictSchema.optional().describe('By the policies in force when the call was planned'),
  policies: z.string().optional().describe('Which policies those were'),
  written: payloadSchema
    .optional()
    .describe(
      'The arguments as the caller wrote them, which the policies judge; absent when validation changed nothing',
    ),
});

const stepEvents = [
  stepEvent('step.created', { ...callSchema.shape, args: payloadSchema }),
  stepEvent('step.queued', {
    reason: z.string(),
    args: payloadSchema.optional(),
    effect: effectSchema.optional(),
    written: payloadSchema.optional().describe('With edited arguments: those that the caller wrote'),
  }),
  stepEvent('step.started', {
    attempt,
    worker: z.string(),
    epoch: epoch.optional(),
    writes: z.literal(true).optional(),
    began_at: z.iso.datetime().optional().describe('When the first attempt began that was not held; absent: now'),
    waited: z.literal(true).optional().describe('It had waited for a task, and not for a worker'),
  }),
  stepEvent('step.held', {
    attempt,
    reason: z.string().describe('Why a person has to be asked after all. The attempt did nothing'),
    writes: z.literal(true).optional(),
  }),
  stepEvent('step.deferred', {
    attempt,
    until: z.iso.datetime(),
    task_id: taskIdSchema,
    begins: beginsSchema.optional(),
  }),
  stepEvent('step.model_used', {
    attempt,
    model: z.string(),
    usage: modelUsageSchema.describe('What one request of the tool used; recorded before the tool has the answer'),
  }),
  stepEvent('step.cancel_requested', { by: z.string(), message: z.string().optional() }).describe(
    'The step ends, and never starts again. One that runs nothing settles in the same append',
  ),
  stepEvent('step.retried', { attempt, reason: problemSchema, restore }),
  stepEvent('step.indeterminate', { attempt, reason: problemSchema, restore }),
  stepEvent('step.succeeded', settled),
  stepEvent('step.failed', settled),
  stepEvent('step.killed', settled),
  stepEvent('step.timed_out', settled),
  stepEvent('step.rejected', settled),
  stepEvent('step.expired', settled),
  stepEvent('step.canceled', settled),
] as const;

/** Most changed paths named in an approval; the others are only counted. */
export const mostChangesNamed = 100;

/** A decision became void, because the files have changed since the decision. */
export const actionChangedSchema = z.strictObject({
  approval_id: approvalIdSchema.describe('The decided approval'),
  from: snapshotId.describe('The snapshot that the decision was made on'),
  to: snapshotId.describe('The snapshot before the call would have started'),
  changes: z.array(pathChangeSchema).max(mostChangesNamed),
  total: z.int(),
  uses: z
    .string()
    .optional()
    .describe(
      'Set when the call would use other content of a sub-agent than was shown: its run and snapshot now; empty: none',
    ),
});
export type ActionChanged = z.infer<typeof actionChangedSchema>;

/** Shown to a person before a decision: the plan of a publish, or a preview of a call by its kind. */
export type Shown = PublishPlan | { kind: string };

/** The question of an approval. */
export const approvalRequestSchema = z.strictObject({
  ...approvalTermsSchema.shape,
  kind: approvalKindSchema,
  action_digest: z.string().optional().describe('For a publish. The digest of a call is computed from the call'),
  reason: z.string(),
  risk: riskSchema,
  preview: payloadOf<Shown>().optional(),
  uses: z.string().optional().describe('What the call uses of another run; the digest covers it'),
  reaches: z
    .array(z.string())
    .optional()
    .describe('For a command and for a call that names hosts: the hosts that it may reach; the digest covers them'),
  allowed_decisions: z.array(decisionKindSchema),
  expires_at: z.iso.datetime(),
  changed: actionChangedSchema.optional().describe('Set when the call was decided before and the files changed since'),
  edited_by: z
    .array(z.string())
    .optional()
    .describe(
      'Who gave the call its arguments in earlier decisions: where duties are separated, another person confirms them',
    ),
  files: z
    .strictObject({
      snapshot: snapshotId,
      since: snapshotId.describe('Where the change set of the run is counted from'),
      hidden: payloadOf<HiddenFiles>().optional().describe('Without it nothing is hidden'),
    })
    .optional()
    .describe('What a call may find at that snapshot and a person cannot see. Without it: not known when it was asked'),
});

/** A vote for an approval with several voters. A vote counts for exactly the action of its digest. */
export const voteSchema = z.strictObject({
  by: z.string(),
  kind: callerKindSchema,
  action_digest: z.string(),
  message: z.string().optional(),
  at: z.iso.datetime(),
});
export type Vote = z.infer<typeof voteSchema>;

/** A caller with the right to decide gave this right to another caller. */
export const delegationSchema = z.strictObject({ from: z.string(), to: z.string() });
export type Delegation = z.infer<typeof delegationSchema>;

/** A call approved from now on without a question: exactly these parameters, in a run or in a tenant. */
export const rememberedRuleSchema = z.strictObject({
  rule_id: ruleIdSchema,
  scope: z.enum(['run', 'policy']),
  call_digest: z.string().describe('Digest of toolset, tool, arguments, effect and hosts'),
  toolset: z.string(),
  tool: z.string(),
  args: payloadSchema,
  effect: effectSchema,
  reaches: z.array(z.string()).optional(),
  expires_at: z.iso.datetime(),
  by: z.string(),
  kind: callerKindSchema,
});
export type RememberedRule = z.infer<typeof rememberedRuleSchema>;

export const decisionSchema = z.strictObject({
  decision: decisionKindSchema,
  action_digest: z.string(),
  args: payloadSchema.optional(),
  asked: payloadSchema.optional().describe('With edit: the arguments before it'),
  message: z.string().optional(),
  by: z.string(),
  votes: z.array(voteSchema).optional().describe('Where several callers had to approve: all who did'),
  made_rule: ruleIdSchema.optional().describe('The rule that was made with the decision'),
  rule_id: ruleIdSchema.optional().describe('`by` made this rule earlier, and the rule decided'),
  expired: z.literal(true).optional().describe('The deadline passed, and the policy lets the call run then'),
});

const approvalEvents = [
  approvalEvent('approval.requested', {
    approval_id: approvalIdSchema,
    snapshot: snapshotId,
    ...approvalRequestSchema.shape,
  }),
  approvalEvent('approval.decided', {
    approval_id: approvalIdSchema,
    snapshot: snapshotId,
    ...decisionSchema.shape,
    writes: z
      .literal(true)
      .optional()
      .describe('The call will change the workspace: nothing else may change it until the call has ended'),
  }),
  approvalEvent('approval.expired', { approval_id: approvalIdSchema }),
  approvalEvent('approval.canceled', { approval_id: approvalIdSchema, reason: z.string() }),
  approvalEvent('approval.voted', {
    approval_id: approvalIdSchema,
    by: z.string(),
    votes: z.array(voteSchema).describe('All votes by now; the last one is new'),
  }),
  approvalEvent('approval.delegated', {
    approval_id: approvalIdSchema,
    ...delegationSchema.shape,
    delegations: z.array(delegationSchema).describe('All delegations by now; the last one is new'),
  }),
  approvalEvent('approval.reminded', { approval_id: approvalIdSchema, times: z.int().min(1) }),
  approvalEvent('approval.escalated', {
    approval_id: approvalIdSchema,
    to: z.array(z.string()).describe('Globs on names of callers who may decide from now on'),
  }),
] as const;

const ruleEvents = [
  event('rule.remembered', { ...rememberedRuleSchema.shape, approval_id: approvalIdSchema }),
  event('rule.revoked', { rule_id: ruleIdSchema, by: z.string() }),
] as const;

const taskEvents = [
  stepEvent('task.created', { task_id: taskIdSchema, ...taskAboutSchema.omit({ step_id: true }).shape }),
  event('task.started', { task_id: taskIdSchema, worker: z.string(), epoch: epoch.optional() }),
  event('task.kill_requested', { task_id: taskIdSchema, by: z.string() }),
  event('task.used', report),
  event('task.waiting', report),
  event('task.resumed', report),
  event('task.reserved', {
    task_id: taskIdSchema,
    for_step: stepIdSchema.describe('A step of a sub-agent that is about to start one more sub-agent'),
  }),
  event('task.exited', {
    task_id: taskIdSchema,
    status: taskStatusSchema.extract(['completed', 'failed', 'killed', 'timed_out']),
    ...taskOutcomeSchema.shape,
  }),
  event('task.ended', {
    task_id: taskIdSchema,
    status: taskStatusSchema.extract(['completed', 'failed', 'killed', 'timed_out', 'lost']),
    ...taskOutcomeSchema.shape,
    total: agentsTotalSchema.optional().describe('The total, with all that the sub-agent used'),
    restore,
  }),
] as const;

const networkEvents = [
  stepEvent('network.connected', {
    attempt,
    host: z.string(),
    port: z.int(),
    address: z
      .string()
      .optional()
      .describe('The address that the name resolved to; absent when no connection was made'),
    verdict: z.enum(['allowed', 'refused', 'failed']),
    reason: z.string().optional(),
    detail: z
      .string()
      .optional()
      .describe('Why it was refused or failed, for people: address, reason, and the setting that opens the host'),
    bytes_up: z.int(),
    bytes_down: z.int(),
    duration_ms: z.number(),
  }),
  stepEvent('network.counted', {
    attempt,
    counts: z
      .array(
        z.object({
          host: z.string().nullable().describe('null: several hosts'),
          port: z.int().nullable(),
          verdict: z.enum(['allowed', 'refused', 'failed']),
          reason: z.string().optional(),
          connections: z.int(),
          bytes_up: z.int(),
          bytes_down: z.int(),
        }),
      )
      .describe('Connections after the hundredth of the attempt. They have no events of their own'),
  }),
  stepEvent('graph.progress', {
    attempt,
    files: z.int().describe('Files that the graph of the snapshot has read, some of them for earlier queries'),
    total: z.int().describe('Files that it reads'),
  }),
] as const;

/** The request behind a publish. */
export const publishRequestSchema = z.strictObject({
  snapshot: snapshotId,
  message: z.string(),
  branch: z.string().optional(),
  author: z.strictObject({ name: z.string(), email: z.string() }).optional(),
  include_ignored: z.literal(true).optional(),
  number: z.int().min(1).optional().describe('From 1: each publish of the run has a number'),
});

/** A publish request for the current snapshot. */
export type PublishOptions = Omit<z.infer<typeof publishRequestSchema>, 'snapshot' | 'number'>;

/** The decisions of people about a publish. */
export const publishReleaseSchema = z.strictObject({
  approved: z.string().optional().describe('Digest of what was approved'),
  resolutions: payloadOf<Resolution[]>().optional(),
});

/** The result of the validators. */
export const validatedSchema = z.strictObject({
  snapshot: snapshotId,
  passed: z.boolean(),
  results: payloadOf<ValidatorResult[]>(),
});

const workspaceEvents = [
  event('workspace.progress', { files: z.int(), bytes: z.int() }),
  event('workspace.materialised', {
    snapshot: snapshotId,
    base: snapshotId.optional().describe('The snapshot that the change set is counted from, when it is another one'),
    base_commit: z.string().nullable(),
    began_at: z.iso.datetime().optional().describe('When the copy began'),
    files: z.int(),
    bytes: z.int(),
    skipped: z.int(),
    submodules: z.array(z.strictObject({ path: z.string(), commit: z.string() })).optional(),
    lfs_pointers: lfsPointersSchema.optional(),
    toolchains: z.array(toolchainSchema).optional().describe('What commands of the run find as node and python3'),
    prepare: z.literal(true).optional().describe('The commands of `prepare` run before the first turn'),
  }),
  event('workspace.preparing', preparingSchema.shape),
  event('workspace.prepared', {
    ...preparedSchema.shape,
    snapshot: snapshotId,
    parent: snapshotId,
    files_changed: z.int(),
    skipped: z.int(),
  }),
  event('workspace.prepare_failed', { ...prepareFailedSchema.shape, restore }),
  stepEvent('workspace.snapshotted', {
    attempt,
    snapshot: snapshotId,
    parent: snapshotId,
    files_changed: z.int(),
    skipped: z.int(),
  }),
  stepEvent('workspace.drifted', {
    snapshot: snapshotId,
    parent: snapshotId,
    files_changed: z.int(),
    skipped: z.int(),
  }).describe('Background commands changed the files after the decision: this is the snapshot of the files now'),
  event('workspace.leased', { epoch, worker: z.string() }),
  event('workspace.distrusted', {
    epoch,
    reason: z
      .enum(['other_boot', 'log_went_back', 'tree_changed', 'forbidden_change', 'merge_interrupted'])
      .describe(
        'other_boot: the machine restarted after the tree was written. log_went_back: the tree is ahead of the log, so Redis lost acknowledged writes. tree_changed: the files differ from the snapshot. forbidden_change: a background command changed a path that the run may not change. merge_interrupted: the worker that merged a sub-agent was lost',
      ),
    detail: z.string(),
  }),
  event('workspace.restored', { snapshot: snapshotId, epoch: epoch.optional() }),
  event('workspace.held', {
    task_id: taskIdSchema,
    merges: z.literal(true).optional().describe('The task brings the changes of a sub-agent into the tree'),
  }),
  event('workspace.captured', {
    task_id: taskIdSchema,
    snapshot: snapshotId,
    parent: snapshotId,
    files_changed: z.int(),
    skipped: z.int(),
  }),
  event('workspace.validating', { snapshot: snapshotId }),
  event('workspace.publish_requested', { ...publishRequestSchema.shape, by: z.string() }),
  event('workspace.validated', validatedSchema.shape),
  event('workspace.publish_released', publishReleaseSchema.shape),
  event('workspace.publish_rejected', { reason: problemSchema }),
  event('workspace.publish_failed', { snapshot: snapshotId, reason: problemSchema }),
  event('workspace.published', { snapshot: snapshotId, published: publishedSchema }),
  event('workspace.conflicted', {
    snapshot: snapshotId,
    conflicts: z.array(conflictSummarySchema),
    parked: z.literal(true).optional().describe('A person is asked in the same append'),
  }),
  event('workspace.discard_requested', { by: z.string(), from: publicationStatusSchema }),
  event('workspace.discarded', {}),
] as const;

/** Every event of a run's log, as stored: without the sequence number, the id of an event in the stream. */
export const eventSchema = z.discriminatedUnion('type', [
  ...runEvents,
  ...stepEvents,
  ...approvalEvents,
  ...ruleEvents,
  ...taskEvents,
  ...networkEvents,
  ...workspaceEvents,
]);
export type RunEvent = z.infer<typeof eventSchema>;
export type EventType = RunEvent['type'];
export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;

/** The events by which a step settles. */
export const stepSettlements = [
  'step.succeeded',
  'step.failed',
  'step.killed',
  'step.timed_out',
  'step.rejected',
  'step.expired',
  'step.canceled',
] as const satisfies readonly EventType[];
export type StepSettled = EventOf<(typeof stepSettlements)[number]>;

const settling: ReadonlySet<string> = new Set(stepSettlements);
export const settlesStep = <Event extends RunEvent>(event: Event): event is Extract<Event, StepSettled> =>
  settling.has(event.type);

/**
 * A connection of a call to the outside, or an attempt to connect, logged at its end.
 *
 * - `host`: normalised when valid; otherwise the text of the client, at most 300 characters. Empty when the client named no host.
 * - `port`: 0 when the client named no port.
 * - `verdict`: `refused` when no connection was allowed, `failed` when the host was allowed but could not be reached.
 * - `reason`: why the connection was refused, failed, or was cut short: an `EgressErrorCode`, or `EABORTED` (this side gave up). The proxy
 *   adds `EPROXYAUTH` (no token or a wrong token), `EPROXYREQUEST` (a request outside of a proxy's service) and `EPROXYBUSY` (too many connections).
 * - `bytes_up`, `bytes_down`: without TLS framing when the guarded fetch, not the program, speaks TLS.
 */
export type Connection = Omit<EventOf<'network.connected'>['data'], 'attempt'>;

/** An event with its sequence number: dense, from 1, per run. */
export type LoggedEvent = RunEvent & { seq: number };

/** An event before the append: the log adds id, run and time. */
export type NewEvent = { [Type in EventType]: Draft<EventOf<Type>> }[EventType];
type Draft<Event> = Event extends unknown ? Omit<Event, 'id' | 'run_id' | 'time'> : never;
