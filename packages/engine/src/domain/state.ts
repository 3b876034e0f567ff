import { defaultTenant, isIdOf, type RunSpec, type SecretScope } from '@holdpoint/contract';
import type { z } from 'zod';
import { approvalTable, nameOf, ruleTable, schemaOf } from './fields/field.ts';
import { runTable } from './fields/run.ts';
import { columnSeparator, settledColumns, stepTable } from './fields/step.ts';
import { taskTable } from './fields/task.ts';

type Fields = Readonly<Record<string, string | null | undefined>>;

// Built once: building a schema costs more than reading a run with the schema.
const runSchema = schemaOf(runTable);
const stepSchema = schemaOf(stepTable);
const approvalSchema = schemaOf(approvalTable);
const taskSchema = schemaOf(taskTable);
const ruleSchema = schemaOf(ruleTable);

/** A run as its state hash says, without its steps, approvals and tasks. */
export type RunState = z.infer<typeof runSchema> & { id: string };
export type StepState = Omit<z.infer<typeof stepSchema>, 'call' | 'judged'> & { id: string; call: PlannedCall };
/** The verdict on a settled step, and its policies, are only in the log. */
type PlannedCall = z.infer<typeof stepSchema>['call'] & z.infer<typeof stepSchema>['judged'];
export type ApprovalState = z.infer<typeof approvalSchema> & { id: string };
/** A background command or a sub-agent. */
export type TaskState = z.infer<typeof taskSchema> & { id: string };

/** A call approved from now on without a question. */
export type RuleState = z.infer<typeof ruleSchema> & { id: string };

/** The hash fields of a run, a step, an approval, a task. */
const runFields = Object.entries(runTable);
const stepFields = Object.entries(stepTable).map(([name, { schema }]) => {
  return { name, schema, absent: schema.safeParse(undefined).data as unknown };
});
export const runFieldNames: readonly string[] = Object.keys(runTable);
export const stepNames: readonly string[] = Object.keys(stepTable);
const approvalNames = Object.keys(approvalTable);
const taskNames = Object.keys(taskTable);
const ruleNames = Object.keys(ruleTable);
/** The last name is the record of a settled step. */
export const stepFieldNames = (id: string): string[] => [...stepNames.map((name) => nameOf(id, name)), id];
export const approvalFieldNames = (id: string): string[] => approvalNames.map((name) => nameOf(id, name));
export const ruleFieldNames = (id: string): string[] => ruleNames.map((name) => nameOf(id, name));
export const taskFieldNames = (id: string): string[] => taskNames.map((name) => nameOf(id, name));

/** `undefined` when the hash holds no run. */
export function parseRun(id: string, fields: Fields): RunState | undefined {
  const found = pick(fields, runFieldNames, '');
  return found && { id, ...runSchema.parse(found) };
}

export function parseStep(id: string, fields: Fields): StepState | undefined {
  const record = fields[id];
  return readFound(id, pick(record ? withRecord(fields, id, record) : fields, stepNames, nameOf(id, '')));
}

function readFound(id: string, found: Record<string, string> | undefined): StepState | undefined {
  if (found === undefined || isOnlyCanceled(found)) return undefined;
  return asStep(id, stepSchema.parse(found));
}

/** A call whose cancel came before its turn has no other field until the turn creates the step. */
const isOnlyCanceled = (found: Record<string, string>): boolean =>
  found.cancel !== undefined && found.call === undefined && found.status === undefined;

const asStep = (id: string, { judged, call, ...step }: z.infer<typeof stepSchema>): StepState => ({
  id,
  ...step,
  call: { ...call, ...judged },
});

type Values = readonly (string | null)[];

/** The fields of a run, and of an unsettled step of the run, in the order of their tables. */
export interface StoredStep {
  run: Values;
  step: Values;
  /** By place, the decoded values of some fields of the step. The check of their event included the values. */
  objects?: readonly (object | undefined)[] | undefined;
  /** An older state of the run: a field unchanged since is not parsed again. */
  before?: { stored: Values; parsed: RunState } | undefined;
}

/** Reads by place and not by name: as objects, fields whose names have an id in them cost more than all the rest of reading a step. */
export function parseStored(
  ids: { run: string; step: string },
  stored: StoredStep,
): { run: RunState; step: StepState } | undefined {
  const run = stored.before === undefined ? parseWhole(ids.run, stored.run) : parseChanged(stored.run, stored.before);
  const step =
    stored.objects === undefined
      ? readFound(ids.step, byName(stored.step, stepNames))
      : parseKnown(ids.step, stored.step, stored.objects);
  return run && step && { run, step };
}

function parseKnown(id: string, values: Values, objects: readonly (object | undefined)[]): StepState {
  const step: Record<string, unknown> = {};
  for (const [at, { name, schema, absent }] of stepFields.entries()) {
    const text = values[at] || undefined;
    const value = text === undefined ? absent : (objects[at] ?? schema.parse(text));
    if (value !== undefined) step[name] = value;
  }
  return asStep(id, step as z.infer<typeof stepSchema>);
}

function parseWhole(id: string, values: Values): RunState | undefined {
  const found = byName(values, runFieldNames);
  return found && { id, ...runSchema.parse(found) };
}

function parseChanged(values: Values, { stored, parsed }: NonNullable<StoredStep['before']>): RunState {
  const run: Record<string, unknown> = { ...parsed };
  for (const [at, [name, { schema }]] of runFields.entries()) {
    if ((values[at] || null) === (stored[at] || null)) continue;
    const value = schema.parse(values[at] || undefined);
    if (value === undefined) delete run[name];
    else run[name] = value;
  }
  return run as RunState;
}

function byName(values: Values, names: readonly string[]): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (value != null && value !== '') found[name] = value;
  }
  return found.status === undefined ? undefined : found;
}

/** A value written after the step settled wins over its record. */
function withRecord(fields: Fields, id: string, record: string): Fields {
  const values = record.split(columnSeparator);
  const columns = settledColumns.map((column, at) => {
    const name = nameOf(id, column);
    return [name, fields[name] ?? values[at]] as const;
  });
  return Object.fromEntries(columns);
}

export function parseApproval(id: string, fields: Fields): ApprovalState | undefined {
  const found = pick(fields, approvalNames, nameOf(id, ''));
  return found && { id, ...approvalSchema.parse(found) };
}

export function parseTask(id: string, fields: Fields): TaskState | undefined {
  const found = pick(fields, taskNames, nameOf(id, ''));
  return found && { id, ...taskSchema.parse(found) };
}

export function parseRule(id: string, fields: Fields): RuleState | undefined {
  const found = pick(fields, ruleNames, nameOf(id, ''));
  return found && { id, ...ruleSchema.parse(found) };
}

/** Absent and empty fields are left out. Everything stored has a status. */
function pick(fields: Fields, names: readonly string[], prefix: string): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = fields[prefix + name];
    if (value != null && value !== '') found[name] = value;
  }
  return found.status === undefined ? undefined : found;
}

/** All tasks of a whole state hash, in the order of their creation. */
export const parseAllTasks = (fields: Fields): TaskState[] =>
  idsWith(fields, ':about').flatMap((id) => parseTask(id, fields) ?? []);

/** All approvals of a whole state hash, in the order of their requests. */
export const parseAllApprovals = (fields: Fields): ApprovalState[] =>
  idsWith(fields, ':request').flatMap((id) => parseApproval(id, fields) ?? []);

/** All steps of a whole state hash, in the order of their planning. */
export const parseAllSteps = (fields: Fields): StepState[] =>
  [...idsWith(fields, ':call'), ...Object.keys(fields).filter((name) => isIdOf('step', name) && !name.includes(':'))]
    .flatMap((id) => parseStep(id, fields) ?? [])
    // After an undo, a step and its replacement have the same turn and index: the older step comes first.
    .sort((a, b) => a.call.turn - b.call.turn || a.call.index - b.call.index || (a.id < b.id ? -1 : 1));

/** Ids sort by their time. */
const idsWith = (fields: Fields, suffix: string): string[] =>
  Object.keys(fields)
    .flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []))
    .sort();

/** The tenant and the names of the secrets of a run. */
export const scopeOf = (run: Pick<RunState, 'tenant'>, { secrets = [] }: Pick<RunSpec, 'secrets'>): SecretScope => ({
  tenant: run.tenant ?? defaultTenant,
  secrets,
});
