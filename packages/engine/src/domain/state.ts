import {
  actionChangedSchema,
  agentReportSchema,
  agentsTotalSchema,
  approvalKindSchema,
  approvalStatusSchema,
  beginsSchema,
  conflictSummarySchema,
  decidedSchema,
  decisionKindSchema,
  effectSchema,
  forkedFromSchema,
  parentSchema,
  payloadSchema,
  prioritySchema,
  problemSchema,
  publicationStatusSchema,
  publishedSchema,
  repetitionSchema,
  riskSchema,
  runStatusSchema,
  stepIdSchema,
  stepStatusSchema,
  taskAboutSchema,
  taskOutcomeSchema,
  taskStatusSchema,
  usageSchema,
} from '@holdpoint/contract';
import { z } from 'zod';
import {
  allApprovalFields,
  allStepFields,
  allTaskFields,
  approvalField,
  runField,
  stepField,
  taskField,
} from './fields.ts';

type Fields = Readonly<Record<string, string | null | undefined>>;

/** A hash field that holds JSON. */
const json = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(schema);
const count = z.coerce.number().int();

const headerSchema = z.strictObject({
  title: z.string(),
  toolset: z.string(),
  planner: z.enum(['scripted', 'model']),
  model: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  priority: prioritySchema.optional(),
});

const runSchema = z.object({
  seq: count,
  status: runStatusSchema,
  header: json(headerSchema),
  created_at: z.string(),
  started_at: z.string().optional(),
  ended_at: z.string().optional(),
  turn: count,
  turn_steps: json(z.array(stepIdSchema)),
  open: count,
  parked: count,
  budget_from: json(usageSchema).default({ turn: 0, steps: 0, active_ms: 0, tokens: 0, cost_micros: 0, agents: 0 }),
  steps: count.default(0),
  active_ms: count.default(0),
  input_tokens: count.default(0),
  output_tokens: count.default(0),
  cost_micros: count.default(0),
  repetition: json(repetitionSchema).optional(),
  tools: json(z.record(z.string(), z.string())).optional(),
  messages: count.default(0),
  messages_read: count.default(0),
  open_tasks: count.default(0),
  agents: count.default(0),
  agents_total: json(agentsTotalSchema).optional(),
  closing: json(
    z.strictObject({
      as: z.enum(['succeeded', 'failed']),
      message: z.string(),
      reason: problemSchema.optional(),
    }),
  ).optional(),
  base: z.string().optional(),
  snapshot: z.string().optional(),
  message: z.string().optional(),
  reason: json(problemSchema).optional(),
  lease: count.default(0),
  writer: z.string().default(''),
  head: z.string().default(''),
  uncaptured: count.default(0),
  restore: z.literal('due').optional(),
  publication: publicationStatusSchema,
  publish_request: json(
    z.strictObject({
      snapshot: z.string(),
      message: z.string(),
      branch: z.string().optional(),
      author: z.strictObject({ name: z.string(), email: z.string() }).optional(),
      include_ignored: z.literal(true).optional(),
    }),
  ).optional(),
  publish_release: json(
    z.strictObject({ approved: z.string().optional(), resolutions: payloadSchema.optional() }),
  ).optional(),
  validating: z.string().optional(),
  validated: json(z.strictObject({ snapshot: z.string(), passed: z.boolean(), results: payloadSchema })).optional(),
  publish_approval: z.string().optional(),
  publication_detail: json(
    z.strictObject({
      published: publishedSchema.optional(),
      conflicts: z.array(conflictSummarySchema).optional(),
      reason: problemSchema.optional(),
    }),
  ).optional(),
  forked_from: json(forkedFromSchema).optional(),
  parent: json(parentSchema).optional(),
  forks: count.default(0),
});
/** A run as its state hash says, steps and approvals aside. */
export type RunState = z.infer<typeof runSchema> & { id: string };

const stepSchema = z.object({
  status: stepStatusSchema,
  attempt: count,
  interruptions: count.default(0).describe('Attempts that ended without an outcome'),
  call: json(
    z.strictObject({
      turn: z.int(),
      index: z.int(),
      name: z.string().optional(),
      call_id: z.string().optional(),
      tool: z.string(),
      effect: effectSchema,
      risk: riskSchema,
      gate: z.literal('input').optional(),
      sequential: z.literal(true).optional(),
    }),
  ),
  args: json(payloadSchema),
  effect: effectSchema,
  approval: z.string().optional(),
  approved_snapshot: z.string().optional(),
  snapshot: z.string().optional(),
  outcome: json(
    z.strictObject({
      attempt: z.int().nullable(),
      value: payloadSchema.optional(),
      error: problemSchema.optional(),
      duration_ms: z.number().optional(),
      inherited_from: z.string().optional(),
      decided: z.array(decidedSchema).optional(),
    }),
  ).optional(),
  deferred: json(
    z.strictObject({ until: z.string(), task_id: z.string(), begins: beginsSchema.optional() }),
  ).optional(),
  task: z.string().optional(),
  worker: z.string().optional(),
  created_at: z.string(),
  started_at: z.string().optional(),
  settled_at: z.string().optional(),
});
export type StepState = z.infer<typeof stepSchema> & { id: string };

const approvalSchema = z.object({
  status: approvalStatusSchema,
  request: json(
    z.strictObject({
      step_id: stepIdSchema.optional(),
      kind: approvalKindSchema,
      action_digest: z.string().optional(),
      reason: z.string(),
      risk: riskSchema,
      preview: payloadSchema.optional(),
      uses: z.string().optional(),
      allowed_decisions: z.array(decisionKindSchema),
      expires_at: z.string(),
      requested_at: z.string(),
      changed: actionChangedSchema.optional(),
    }),
  ),
  superseded: z.string().optional().describe('The approval that asks again, because the files had changed'),
  decision: json(
    z.strictObject({
      decision: decisionKindSchema,
      action_digest: z.string(),
      args: payloadSchema.optional(),
      asked: payloadSchema.optional(),
      message: z.string().optional(),
      by: z.string(),
      decided_at: z.string(),
    }),
  ).optional(),
});
export type ApprovalState = z.infer<typeof approvalSchema> & { id: string };

const taskStateSchema = z.object({
  status: taskStatusSchema,
  about: json(taskAboutSchema),
  kill: z.string().optional().describe('Who wants it killed'),
  worker: z.string().optional(),
  epoch: count.optional(),
  report: json(agentReportSchema).optional().describe('Of a sub-agent: what it last said of itself'),
  outcome: json(taskOutcomeSchema.extend({ status: taskStatusSchema })).optional(),
  created_at: z.string(),
  started_at: z.string().optional(),
  ended_at: z.string().optional(),
});
/** What runs beside the steps of a run. */
export type TaskState = z.infer<typeof taskStateSchema> & { id: string };

/** The hash fields that make up a run. What it was asked to do (`log/read-spec.ts`) is not among them: it may be long, and never changes. */
export const runFieldNames: readonly string[] = Object.values(runField).filter(
  (name) => typeof name === 'string' && name !== runField.spec,
);
/** Those of a step, an approval, a task. */
export const stepFieldNames = (id: string): string[] => allStepFields.map((field) => stepField(id, field));
export const approvalFieldNames = (id: string): string[] => allApprovalFields.map((field) => approvalField(id, field));
export const taskFieldNames = (id: string): string[] => allTaskFields.map((field) => taskField(id, field));

/** `undefined` when the hash holds no such run. */
export function parseRun(id: string, fields: Fields): RunState | undefined {
  if (fields[runField.status] == null) return undefined;
  return { id, ...runSchema.parse(pick(fields, runFieldNames, (name) => name)) };
}

export function parseStep(id: string, fields: Fields): StepState | undefined {
  if (fields[stepField(id, 'status')] == null) return undefined;
  return { id, ...stepSchema.parse(pick(fields, stepFieldNames(id), (name) => name.slice(id.length + 1))) };
}

export function parseApproval(id: string, fields: Fields): ApprovalState | undefined {
  if (fields[approvalField(id, 'status')] == null) return undefined;
  return { id, ...approvalSchema.parse(pick(fields, approvalFieldNames(id), (name) => name.slice(id.length + 1))) };
}

export function parseTask(id: string, fields: Fields): TaskState | undefined {
  if (fields[taskField(id, 'status')] == null) return undefined;
  return { id, ...taskStateSchema.parse(pick(fields, taskFieldNames(id), (name) => name.slice(id.length + 1))) };
}

/** In the order they were begun. */
export function parseAllTasks(fields: Fields): TaskState[] {
  return idsWith(fields, ':about')
    .sort()
    .map((id) => parseTask(id, fields))
    .filter((task) => task !== undefined);
}

/** Every step (in the order they were planned) or approval (in the order they were requested) of a whole state hash. */
export function parseAllSteps(fields: Fields): StepState[] {
  return (
    idsWith(fields, ':call')
      .map((id) => parseStep(id, fields))
      .filter((step) => step !== undefined)
      // After an undo a step and the one that was made anew in its place stand in one place of one turn: the older first.
      .sort((a, b) => a.call.turn - b.call.turn || a.call.index - b.call.index || (a.id < b.id ? -1 : 1))
  );
}

export function parseAllApprovals(fields: Fields): ApprovalState[] {
  return idsWith(fields, ':request')
    .sort()
    .map((id) => parseApproval(id, fields))
    .filter((approval) => approval !== undefined);
}

const idsWith = (fields: Fields, suffix: string): string[] =>
  Object.keys(fields).flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []));

/** Absent and empty fields are left out. */
function pick(fields: Fields, names: readonly string[], rename: (name: string) => string): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = fields[name];
    if (value != null && value !== '') picked[rename(name)] = value;
  }
  return picked;
}
