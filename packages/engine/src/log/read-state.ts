import type { Redis } from 'ioredis';
import {
  approvalsField,
  callsKeyField,
  callsKeySchema,
  receivedCallsSchema,
  receivedField,
  reservedField,
  tasksField,
} from '../domain/fields/run.ts';
import { stepCancelSchema, stepField } from '../domain/fields/step.ts';
import {
  type ApprovalState,
  parseRun,
  type RuleState,
  type RunState,
  type StepState,
  type TaskState,
} from '../domain/index.ts';
import {
  approvalFieldNames,
  parseApproval,
  parseRule,
  parseStep,
  parseTask,
  ruleFieldNames,
  runFieldNames,
  stepFieldNames,
  taskFieldNames,
} from '../domain/state.ts';
import { type Damaged, readEntry } from './damaged.ts';
import { stateKey } from './keys.ts';
import { knowTenant } from './known-tenants.ts';

/** Reads only a run's own fields, however many steps the run has. */
export async function readRun(redis: Redis, runId: string): Promise<RunState | undefined> {
  return knowTenant(redis, parseRun(runId, await readFields(redis, runId, runFieldNames)));
}

/** Several runs in one round trip, in the order of the ids; undefined for a missing run. */
export async function readRuns(redis: Redis, runIds: readonly string[]): Promise<(RunState | Damaged | undefined)[]> {
  const replies = (await redis.pipeline(runIds.map((id) => ['hmget', stateKey(id), ...runFieldNames])).exec()) ?? [];
  return Promise.all(
    runIds.map((id, at) =>
      readEntry(id, () => {
        const [error, values] = replies[at] ?? [];
        if (error) throw error;
        return knowTenant(redis, parseRun(id, named(runFieldNames, values as (string | null)[])));
      }),
    ),
  );
}

/** A step and its run, in one round trip. */
export async function readStep(
  redis: Redis,
  runId: string,
  stepId: string,
): Promise<{ run: RunState; step: StepState } | undefined> {
  const fields = await readFields(redis, runId, fieldsOfStep(stepId));
  const run = knowTenant(redis, parseRun(runId, fields));
  const step = parseStep(stepId, fields);
  return run && step ? { run, step } : undefined;
}

/** The same with an approval about the step. */
export async function readStepWithApproval(
  redis: Redis,
  runId: string,
  { stepId, approvalId }: { stepId: string; approvalId: string },
): Promise<{ run: RunState; step: StepState; approval: ApprovalState } | undefined> {
  const fields = await readFields(redis, runId, [...fieldsOfStep(stepId), ...approvalFieldNames(approvalId)]);
  const run = knowTenant(redis, parseRun(runId, fields));
  const step = parseStep(stepId, fields);
  const approval = parseApproval(approvalId, fields);
  return run && step && approval ? { run, step, approval } : undefined;
}

/** The fields of a step and its run. */
const fieldsOfStep = (stepId: string): string[] => [...runFieldNames, ...stepFieldNames(stepId)];

/** The steps of the current turn, in order. */
export async function readTurnSteps(redis: Redis, run: RunState): Promise<StepState[]> {
  return readSteps(redis, run.id, run.turn_steps);
}

/** Steps by their ids. Missing steps are left out. */
export async function readSteps(redis: Redis, runId: string, ids: readonly string[]): Promise<StepState[]> {
  if (ids.length === 0) return [];
  const fields = await readFields(redis, runId, ids.flatMap(stepFieldNames));
  return ids.map((id) => parseStep(id, fields)).filter((step) => step !== undefined);
}

export async function readApproval(
  redis: Redis,
  runId: string,
  approvalId: string,
): Promise<ApprovalState | undefined> {
  return parseApproval(approvalId, await readFields(redis, runId, approvalFieldNames(approvalId)));
}

export async function readRule(redis: Redis, runId: string, ruleId: string): Promise<RuleState | undefined> {
  return parseRule(ruleId, await readFields(redis, runId, ruleFieldNames(ruleId)));
}

export async function readTask(redis: Redis, runId: string, taskId: string): Promise<TaskState | undefined> {
  return parseTask(taskId, await readFields(redis, runId, taskFieldNames(taskId)));
}

/** Whether a new sub-agent already counts for the run. A step beneath the run is about to start the sub-agent. */
export async function isReserved(redis: Redis, runId: string, stepId: string): Promise<boolean> {
  return (await redis.hget(stateKey(runId), reservedField(stepId).name)) !== null;
}

/** The calls received by an open run with this number. */
export async function readReceived(redis: Redis, runId: string, number: number) {
  const stored = await redis.hget(stateKey(runId), receivedField(number).name);
  return stored === null ? undefined : receivedCallsSchema.parse(JSON.parse(stored));
}

/** The calls among these whose cancel a caller asked for. Calls waiting for their turn have no other field. */
export async function readCallCancels(
  redis: Redis,
  runId: string,
  ids: readonly string[],
): Promise<Map<string, CallCancel>> {
  const fields = await readFields(
    redis,
    runId,
    ids.map((id) => stepField.cancel(id).name),
  );
  return new Map(
    ids.flatMap((id): [string, CallCancel][] => {
      const stored = fields[stepField.cancel(id).name] ?? null;
      return stored === null ? [] : [[id, stepCancelSchema.parse(JSON.parse(stored))]];
    }),
  );
}

export type CallCancel = NonNullable<StepState['cancel']>;

/** The request of calls with this Idempotency-Key. @param digest of the key */
export async function readCallsKey(redis: Redis, runId: string, digest: string) {
  const stored = await redis.hget(stateKey(runId), callsKeyField(digest).name);
  return stored === null ? undefined : callsKeySchema.parse(JSON.parse(stored));
}

/** All tasks of a run, in the order of their creation. */
export async function readTasks(redis: Redis, runId: string): Promise<TaskState[]> {
  const ids = await readIds(redis, runId, tasksField.name);
  const fields = ids.length === 0 ? {} : await readFields(redis, runId, ids.flatMap(taskFieldNames));
  return ids.flatMap((id) => parseTask(id, fields) ?? []);
}

/** All approvals of a run, in the order of their requests. */
export async function readApprovals(redis: Redis, runId: string): Promise<ApprovalState[]> {
  const ids = await readIds(redis, runId, approvalsField.name);
  const fields = ids.length === 0 ? {} : await readFields(redis, runId, ids.flatMap(approvalFieldNames));
  return ids.flatMap((id) => parseApproval(id, fields) ?? []);
}

/** Ids sort by their time. */
async function readIds(redis: Redis, runId: string, field: string): Promise<string[]> {
  const row = (await redis.hget(stateKey(runId), field)) ?? '';
  const entries = row.split(' ').slice(1);
  return entries.map((entry) => entry.slice(0, entry.indexOf(':'))).sort();
}

/** The whole hash, which grows with the run. For views, not for handlers. */
export const readAll = (redis: Redis, runId: string): Promise<Record<string, string>> => redis.hgetall(stateKey(runId));

export async function readFields(
  redis: Redis,
  runId: string,
  names: readonly string[],
): Promise<Record<string, string | null>> {
  return names.length === 0 ? {} : named(names, await redis.hmget(stateKey(runId), ...names));
}

const named = (names: readonly string[], values: readonly (string | null)[]): Record<string, string | null> =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
