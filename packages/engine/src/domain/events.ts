import { z } from 'zod';
import { approvalIdSchema, runIdSchema, snapshotIdSchema as snapshotId, stepIdSchema } from './ids.ts';
import { forkedFromSchema } from './lineage.ts';
import { payloadSchema } from './payload.ts';
import {
  approvalKindSchema,
  decisionKindSchema,
  effectSchema,
  problemSchema,
  publicationStatusSchema,
  riskSchema,
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

/** What an attempt came to, beside its status. `capabilities` is the sandbox's report of what was enforced. */
const settled = {
  attempt: attempt.nullable().describe('null: nothing ran'),
  value: payloadSchema.optional(),
  error: problemSchema.optional(),
  duration_ms: z.number().optional(),
  capabilities: z.json().optional(),
  inherited_from: stepIdSchema.optional().describe('The step of the run it was forked from that came to this'),
};

const runEvents = [
  event('run.created', {
    spec: payloadSchema,
    title: z.string(),
    toolset: z.string(),
    planner: z.enum(['scripted', 'model']),
    model: z.string().optional(),
    labels: z.record(z.string(), z.string()),
    created_by: z.string(),
    forked_from: forkedFromSchema.optional(),
  }),
  event('run.started', {}),
  event('run.waiting', { for: z.literal('approval') }),
  event('run.resumed', {
    after: z.enum(['approval', 'pause']),
    status: z.enum(['queued', 'running', 'waiting']),
    turn: z.int(),
  }),
  event('run.paused', { reason: problemSchema }),
  event('run.rewound', {
    by: z.string(),
    to_step: stepIdSchema.nullable().describe('The last step that is kept; null: none is'),
    turn: z.int(),
    steps: z.array(stepIdSchema).describe('The steps of that turn: kept ones, and those that follow as new'),
    open: z.int(),
    snapshot: snapshotId,
    undone: z.array(z.strictObject({ id: stepIdSchema, name: z.string().optional() })),
  }),
  event('run.forked', { child: runIdSchema, step_id: stepIdSchema.nullable(), snapshot: snapshotId }),
  event('run.canceling', { by: z.string(), message: z.string().optional() }),
  event('run.canceled', {}),
  event('run.succeeded', { message: z.string() }),
  event('run.failed', { reason: problemSchema }),
  event('turn.planned', {
    turn: z.int().min(1),
    steps: z.array(stepIdSchema),
    message: z.string(),
    answer: payloadSchema.optional().describe("the model's whole answer, provider metadata included"),
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
  }),
  stepEvent('step.queued', { reason: z.string(), args: payloadSchema.optional(), effect: effectSchema.optional() }),
  stepEvent('step.started', { attempt, worker: z.string() }),
  stepEvent('step.retried', { attempt, reason: problemSchema }),
  stepEvent('step.unknown', { attempt, reason: problemSchema }),
  stepEvent('step.succeeded', settled),
  stepEvent('step.failed', settled),
  stepEvent('step.killed', settled),
  stepEvent('step.timed_out', settled),
  stepEvent('step.rejected', settled),
  stepEvent('step.expired', settled),
  stepEvent('step.canceled', settled),
] as const;

const approvalEvents = [
  approvalEvent('approval.requested', {
    approval_id: approvalIdSchema,
    kind: approvalKindSchema,
    action_digest: z.string().optional().describe('Of a publish; that of a call follows from the call'),
    snapshot: snapshotId,
    reason: z.string(),
    risk: riskSchema,
    preview: payloadSchema.optional(),
    allowed_decisions: z.array(decisionKindSchema),
    expires_at: z.iso.datetime(),
  }),
  approvalEvent('approval.decided', {
    approval_id: approvalIdSchema,
    decision: decisionKindSchema,
    action_digest: z.string(),
    snapshot: snapshotId,
    args: payloadSchema.optional(),
    message: z.string().optional(),
    by: z.string(),
  }),
  approvalEvent('approval.expired', { approval_id: approvalIdSchema }),
  approvalEvent('approval.canceled', { approval_id: approvalIdSchema, reason: z.string() }),
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
  event('workspace.restored', { snapshot: snapshotId }),
  event('workspace.publish_requested', {
    snapshot: snapshotId,
    message: z.string(),
    branch: z.string().optional(),
    author: z.strictObject({ name: z.string(), email: z.string() }).optional(),
    by: z.string(),
  }),
  event('workspace.validated', { snapshot: snapshotId, passed: z.boolean(), results: payloadSchema }),
  event('workspace.publish_released', {
    approved: z.string().optional().describe('Digest of what was approved'),
    resolutions: payloadSchema.optional(),
  }),
  event('workspace.publish_rejected', { reason: problemSchema }),
  event('workspace.publish_failed', { snapshot: snapshotId, reason: problemSchema }),
  event('workspace.published', { snapshot: snapshotId, published: z.json() }),
  event('workspace.conflicted', { snapshot: snapshotId, conflicts: z.json() }),
  event('workspace.discard_requested', { by: z.string(), from: publicationStatusSchema }),
  event('workspace.discarded', {}),
] as const;

/** Every event of a run's log, as it is stored: without its sequence number, which is its id in the stream. */
export const eventSchema = z.discriminatedUnion('type', [
  ...runEvents,
  ...stepEvents,
  ...approvalEvents,
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
