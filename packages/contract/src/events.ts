import { z } from 'zod';
import { agentReportSchema, agentsTotalSchema } from './agent-report.ts';
import { capabilityReportSchema } from './capabilities.ts';
import { decidedSchema } from './decided.ts';
import {
  approvalIdSchema,
  messageIdSchema,
  runIdSchema,
  snapshotIdSchema as snapshotId,
  stepIdSchema,
  taskIdSchema,
} from './ids.ts';
import { forkedFromSchema, parentSchema } from './lineage.ts';
import { payloadSchema } from './payload.ts';
import { conflictSummarySchema, publishedSchema } from './publish.ts';
import { beginsSchema, taskAboutSchema, taskOutcomeSchema } from './task.ts';
import {
  approvalKindSchema,
  decisionKindSchema,
  effectSchema,
  prioritySchema,
  problemSchema,
  publicationStatusSchema,
  riskSchema,
  runStatusSchema,
  taskStatusSchema,
} from './vocabulary.ts';

/** One event type: its name and the shape of its `data`. Events are facts in the past tense; nothing is ever rewritten. */
const event = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  z.strictObject({
    id: z.string(),
    type: z.literal(type),
    run_id: runIdSchema,
    time: z.iso.datetime(),
    data: z.strictObject(data),
  });

/** The same for events of one step. */
const stepEvent = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  event(type, data).extend({ step_id: stepIdSchema });

/** The same for what may be about a step, or about the run's publish. */
const approvalEvent = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  event(type, data).extend({ step_id: stepIdSchema.optional() });

const attempt = z.int().min(1);
const epoch = z.int().min(1);
/** The tree is not what the log says any more, and is made anew before anything else of the run starts. */
const restore = z.literal(true).optional();

/** What a run and its sub-agents have used up. Counts go on over pauses; `active_ms` is what counts for `wall_s`. */
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

/** How often the last turns were the same calls with the same results, and how often on end nothing succeeded. */
export const repetitionSchema = z.strictObject({ digest: z.string(), same: z.int(), failed: z.int() });
export type Repetition = z.infer<typeof repetitionSchema>;

/** What an attempt came to, beside its status. `capabilities` is the sandbox's report of what was enforced. */
const settled = {
  attempt: attempt.nullable().describe('null: nothing ran'),
  value: payloadSchema.optional(),
  error: problemSchema.optional(),
  duration_ms: z.number().optional(),
  capabilities: capabilityReportSchema.optional(),
  inherited_from: stepIdSchema.optional().describe('The step of the run it was forked from that came to this'),
  decided: z.array(decidedSchema).optional().describe('With inherited_from: the decisions that let it run there'),
  restore,
};

/** Calls of a model's answer that were above what a turn may have: the last ones. They are no steps, and nothing of them runs. */
export const refusedCallsSchema = z.strictObject({ calls: z.int().min(1), error: problemSchema });
export type RefusedCalls = z.infer<typeof refusedCallsSchema>;

/** What a sub-agent says of itself, and what all sub-agents of the run come to with it. */
const report = { task_id: taskIdSchema, report: agentReportSchema, total: agentsTotalSchema };

const runEvents = [
  event('run.created', {
    spec: payloadSchema,
    title: z.string(),
    toolset: z.string(),
    planner: z.enum(['scripted', 'model']),
    model: z.string().optional(),
    labels: z.record(z.string(), z.string()),
    created_by: z.string(),
    priority: prioritySchema.optional(),
    tools: z
      .record(z.string(), z.string())
      .optional()
      .describe('Version of each tool of the toolset: a digest of its schema'),
    forked_from: forkedFromSchema.optional(),
    parent: parentSchema.optional(),
  }),
  event('run.started', {}),
  event('run.waiting', { for: z.enum(['approval', 'task']) }),
  event('run.resumed', {
    after: z.enum(['approval', 'task', 'pause', 'end']),
    status: z.enum(['queued', 'running', 'waiting']),
    turn: z.int(),
    used: usageSchema.optional().describe('After a pause: limits count from here'),
    tools: z.record(z.string(), z.string()).optional().describe('The versions that it goes on with, when others'),
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
    steps: z.array(stepIdSchema).describe('The steps of that turn: kept ones, and those that follow as new'),
    open: z.int(),
    snapshot: snapshotId,
    lost_tasks: z.array(taskIdSchema).optional().describe('What they changed is taken back, although their steps stay'),
    undone: z.array(z.strictObject({ id: stepIdSchema, name: z.string().optional() })),
  }),
  event('run.forked', { child: runIdSchema, step_id: stepIdSchema.nullable(), snapshot: snapshotId }),
  event('run.closing', {
    as: z.enum(['succeeded', 'failed']),
    message: z.string(),
    reason: problemSchema.optional(),
  }),
  event('run.canceling', { by: z.string(), message: z.string().optional(), from: runStatusSchema.optional() }),
  event('run.canceled', {}),
  event('run.succeeded', { message: z.string() }),
  event('run.failed', { reason: problemSchema }),
  event('turn.planned', {
    turn: z.int().min(1),
    steps: z.array(stepIdSchema),
    message: z.string(),
    answer: payloadSchema.optional().describe("the model's whole answer, provider metadata included"),
    usage: z
      .strictObject({ input_tokens: z.int(), output_tokens: z.int(), cost_micros: z.int().optional() })
      .optional()
      .describe('What the model took; cost in millionths of a US dollar'),
    repetition: repetitionSchema.optional().describe('Of the turns before'),
    messages_read: z.int().optional().describe('How many of the messages to the run the planner had read'),
    refused: refusedCallsSchema.optional(),
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
    ]),
    subject: z.string().optional().describe('The step or task it was about'),
  }),
] as const;

const stepEvents = [
  stepEvent('step.created', {
    turn: z.int().min(1),
    index: z.int().min(0),
    name: z.string().optional(),
    call_id: z.string().optional().describe("the model's id for this call"),
    tool: z.string(),
    args: payloadSchema,
    effect: effectSchema,
    risk: riskSchema,
    gate: z.literal('input').optional(),
    sequential: z.literal(true).optional(),
  }),
  stepEvent('step.queued', { reason: z.string(), args: payloadSchema.optional(), effect: effectSchema.optional() }),
  stepEvent('step.started', {
    attempt,
    worker: z.string(),
    epoch: epoch.optional(),
    writes: z.literal(true).optional(),
  }),
  stepEvent('step.deferred', {
    attempt,
    until: z.iso.datetime(),
    task_id: taskIdSchema,
    begins: beginsSchema.optional(),
  }),
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

/** How many changed paths an approval names; the rest is a number. */
export const mostChangesNamed = 100;

/** What made a decision void: the files were no longer those that it was made for. */
export const actionChangedSchema = z.strictObject({
  approval_id: approvalIdSchema.describe('The approval that had been decided'),
  from: snapshotId.describe('What was decided on'),
  to: snapshotId.describe('What was found before the call began'),
  changes: z
    .array(
      z.strictObject({
        path: z.string(),
        change: z.enum(['added', 'modified', 'deleted', 'unknown']).describe('unknown: no snapshot holds its content'),
      }),
    )
    .max(mostChangesNamed),
  total: z.int(),
  uses: z
    .string()
    .optional()
    .describe('What the call takes from a sub-agent is not what was shown: its run and snapshot now; empty: nothing'),
});
export type ActionChanged = z.infer<typeof actionChangedSchema>;

const approvalEvents = [
  approvalEvent('approval.requested', {
    approval_id: approvalIdSchema,
    kind: approvalKindSchema,
    action_digest: z.string().optional().describe('Of a publish; that of a call follows from the call'),
    snapshot: snapshotId,
    reason: z.string(),
    risk: riskSchema,
    preview: payloadSchema.optional(),
    uses: z.string().optional().describe('What the call uses of another run; the digest covers it'),
    allowed_decisions: z.array(decisionKindSchema),
    expires_at: z.iso.datetime(),
    changed: actionChangedSchema.optional().describe('The call was decided before, and the files had changed since'),
  }),
  approvalEvent('approval.decided', {
    approval_id: approvalIdSchema,
    decision: decisionKindSchema,
    action_digest: z.string(),
    snapshot: snapshotId,
    args: payloadSchema.optional(),
    asked: payloadSchema.optional().describe('With edit: the arguments before it'),
    message: z.string().optional(),
    by: z.string(),
    writes: z
      .literal(true)
      .optional()
      .describe('The call will change the workspace: until it is through nobody else does'),
  }),
  approvalEvent('approval.expired', { approval_id: approvalIdSchema }),
  approvalEvent('approval.canceled', { approval_id: approvalIdSchema, reason: z.string() }),
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
    for_step: stepIdSchema.describe('Of a run beneath: it is about to begin one more sub-agent'),
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
    total: agentsTotalSchema.optional().describe('With what a sub-agent used in all'),
    restore,
  }),
] as const;

const networkEvents = [
  stepEvent('network.connected', {
    attempt,
    host: z.string(),
    port: z.int(),
    address: z.string().optional().describe('What the name stood for; absent when nothing was connected'),
    verdict: z.enum(['allowed', 'refused', 'failed']),
    reason: z.string().optional(),
    bytes_up: z.int(),
    bytes_down: z.int(),
    duration_ms: z.number(),
  }),
  stepEvent('network.counted', {
    attempt,
    counts: z
      .array(
        z.object({
          host: z.string().nullable().describe('Null: of many hosts'),
          port: z.int().nullable(),
          verdict: z.enum(['allowed', 'refused', 'failed']),
          reason: z.string().optional(),
          connections: z.int(),
          bytes_up: z.int(),
          bytes_down: z.int(),
        }),
      )
      .describe('Connections since the hundredth of the attempt, which have no event of their own'),
  }),
] as const;

const workspaceEvents = [
  event('workspace.progress', { files: z.int(), bytes: z.int() }),
  event('workspace.materialised', {
    snapshot: snapshotId,
    base: snapshotId.optional().describe('Where the change set is counted from, when that is another snapshot'),
    base_commit: z.string().nullable(),
    files: z.int(),
    bytes: z.int(),
    skipped: z.int(),
    submodules: z.array(z.strictObject({ path: z.string(), commit: z.string() })).optional(),
  }),
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
  }).describe('Background commands had changed the files that were decided on: this is what they are now'),
  event('workspace.leased', { epoch, worker: z.string() }),
  event('workspace.distrusted', {
    epoch,
    reason: z
      .enum(['other_boot', 'log_went_back', 'tree_changed'])
      .describe(
        'other_boot: the machine was started again since the tree was written. log_went_back: the tree is ahead of the log, so Redis lost acknowledged writes. tree_changed: the files are not those of the snapshot',
      ),
    detail: z.string(),
  }),
  event('workspace.restored', { snapshot: snapshotId, epoch: epoch.optional() }),
  event('workspace.held', { task_id: taskIdSchema }),
  event('workspace.captured', {
    task_id: taskIdSchema,
    snapshot: snapshotId,
    parent: snapshotId,
    files_changed: z.int(),
    skipped: z.int(),
  }),
  event('workspace.validating', { snapshot: snapshotId }),
  event('workspace.publish_requested', {
    snapshot: snapshotId,
    message: z.string(),
    branch: z.string().optional(),
    author: z.strictObject({ name: z.string(), email: z.string() }).optional(),
    include_ignored: z.literal(true).optional(),
    by: z.string(),
  }),
  event('workspace.validated', { snapshot: snapshotId, passed: z.boolean(), results: payloadSchema }),
  event('workspace.publish_released', {
    approved: z.string().optional().describe('Digest of what was approved'),
    resolutions: payloadSchema.optional(),
  }),
  event('workspace.publish_rejected', { reason: problemSchema }),
  event('workspace.publish_failed', { snapshot: snapshotId, reason: problemSchema }),
  event('workspace.published', { snapshot: snapshotId, published: publishedSchema }),
  event('workspace.conflicted', { snapshot: snapshotId, conflicts: z.array(conflictSummarySchema) }),
  event('workspace.discard_requested', { by: z.string(), from: publicationStatusSchema }),
  event('workspace.discarded', {}),
] as const;

/** Every event of a run's log, as it is stored: without its sequence number, which is its id in the stream. */
export const eventSchema = z.discriminatedUnion('type', [
  ...runEvents,
  ...stepEvents,
  ...approvalEvents,
  ...taskEvents,
  ...networkEvents,
  ...workspaceEvents,
]);
export type RunEvent = z.infer<typeof eventSchema>;
export type EventType = RunEvent['type'];
export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;

/** An event with its sequence number: dense, from 1, per run. */
export type LoggedEvent = RunEvent & { seq: number };

/** What a transition says of an event; the log adds id, run and time. */
export type NewEvent = { [Type in EventType]: Draft<EventOf<Type>> }[EventType];
type Draft<Event> = Event extends unknown ? Omit<Event, 'id' | 'run_id' | 'time'> : never;
