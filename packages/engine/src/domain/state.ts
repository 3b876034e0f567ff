import { z } from 'zod';
import { allApprovalFields, allStepFields, approvalField, runField, stepField } from './fields.ts';
import { stepIdSchema } from './ids.ts';
import { forkedFromSchema } from './lineage.ts';
import { payloadSchema } from './payload.ts';
import {
  approvalKindSchema,
  approvalStatusSchema,
  decisionKindSchema,
  effectSchema,
  problemSchema,
  publicationStatusSchema,
  riskSchema,
  runStatusSchema,
  stepStatusSchema,
} from './vocabulary.ts';

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
});

const runSchema = z.object({
  seq: count,
  status: runStatusSchema,
  header: json(headerSchema),
  spec: json(payloadSchema),
  created_at: z.string(),
  started_at: z.string().optional(),
  ended_at: z.string().optional(),
  turn: count,
  turn_steps: json(z.array(stepIdSchema)),
  open: count,
  parked: count,
  budget_from: count,
  base: z.string().optional(),
  snapshot: z.string().optional(),
  message: z.string().optional(),
  reason: json(problemSchema).optional(),
  restore: z.literal('due').optional(),
  publication: publicationStatusSchema,
  publish_request: json(
    z.strictObject({
      snapshot: z.string(),
      message: z.string(),
      branch: z.string().optional(),
      author: z.strictObject({ name: z.string(), email: z.string() }).optional(),
    }),
  ).optional(),
  publish_release: json(
    z.strictObject({ approved: z.string().optional(), resolutions: payloadSchema.optional() }),
  ).optional(),
  validated: json(z.strictObject({ snapshot: z.string(), passed: z.boolean(), results: payloadSchema })).optional(),
  publish_approval: z.string().optional(),
  publication_detail: json(z.record(z.string(), z.json())).optional(),
  forked_from: json(forkedFromSchema).optional(),
  forks: count.default(0),
});
/** A run as its state hash says, steps and approvals aside. */
export type RunState = z.infer<typeof runSchema> & { id: string };

const stepSchema = z.object({
  status: stepStatusSchema,
  attempt: count,
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
    }),
  ).optional(),
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
      allowed_decisions: z.array(decisionKindSchema),
      expires_at: z.string(),
      requested_at: z.string(),
    }),
  ),
  decision: json(
    z.strictObject({
      decision: decisionKindSchema,
      action_digest: z.string(),
      args: payloadSchema.optional(),
      message: z.string().optional(),
      by: z.string(),
      decided_at: z.string(),
    }),
  ).optional(),
});
export type ApprovalState = z.infer<typeof approvalSchema> & { id: string };

/** The hash fields that make up a run, a step, an approval. */
export const runFieldNames: readonly string[] = Object.values(runField).filter((name) => typeof name === 'string');
export const stepFieldNames = (id: string): string[] => allStepFields.map((field) => stepField(id, field));
export const approvalFieldNames = (id: string): string[] => allApprovalFields.map((field) => approvalField(id, field));

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
