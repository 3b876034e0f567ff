import type { Redis } from 'ioredis';
import * as runFields from '../domain/fields/run.ts';
import { stepCancelSchema, stepField } from '../domain/fields/step.ts';
import * as domain from '../domain/index.ts';
import * as state from '../domain/state.ts';
import { type Damaged, readEntry } from './damaged.ts';
import { stateKey } from './keys.ts';
import { knowTenant } from './known-tenants.ts';

/** Reads only a run's own fields, however many steps the run has. */
export async function readRun(redis: Redis, runId: string): Promise<domain.RunState | undefined> {
  return knowTenant(redis, domain.parseRun(runId, await readFields(redis, runId, state.runFieldNames)));
}

/** Several runs in one round trip, in the order of the ids; undefined for a missing run. */
export async function readRuns(
  redis: Redis,
  runIds: readonly string[],
): Promise<(domain.RunState | Damaged | undefined)[]> {
  const replies =
    (await redis.pipeline(runIds.map((id) => ['hmget', stateKey(id), ...state.runFieldNames])).exec()) ?? [];
  return Promise.all(
    runIds.map((id, at) =>
      readEntry(id, () => {
        const [error, values] = replies[at] ?? [];
        if (error) throw error;
        return knowTenant(redis, domain.parseRun(id, named(state.runFieldNames, values as (string | null)[])));
      }),
    ),
  );
}

/** A step and its run, in one round trip. */
export async function readStep(
  redis: Redis,
  runId: string,
  stepId: string,
): Promise<{ run: domain.RunState; step: domain.StepState } | undefined> {
  const fields = await readFields(redis, runId, fieldsOfStep(stepId));
  const run = knowTenant(redis, domain.parseRun(runId, fields));
  const step = state.parseStep(stepId, fields);
  return run && step ? { run, step } : undefined;
}

/** The same with an approval about the step. */
export async function readStepWithApproval(
  redis: Redis,
  runId: string,
  { stepId, approvalId }: { stepId: string; approvalId: string },
): Promise<{ run: domain.RunState; step: domain.StepState; approval: domain.ApprovalState } | undefined> {
  const fields = await readFields(redis, runId, [...fieldsOfStep(stepId), ...state.approvalFieldNames(approvalId)]);
  const run = knowTenant(redis, domain.parseRun(runId, fields));
  const step = state.parseStep(stepId, fields);
  const approval = state.parseApproval(approvalId, fields);
  return run && step && approval ? { run, step, approval } : undefined;
}

/** The fields of a step and its run. */
const fieldsOfStep = (stepId: string): string[] => [...state.runFieldNames, ...state.stepFieldNames(stepId)];

/** The steps of the current turn, in order. */
export async function readTurnSteps(redis: Redis, run: domain.RunState): Promise<domain.StepState[]> {
  return readSteps(redis, run.id, run.turn_steps);
}

/** Steps by their ids. Missing steps are left out. */
export async function readSteps(redis: Redis, runId: string, ids: readonly string[]): Promise<domain.StepState[]> {
  if (ids.length === 0) return [];
  const fields = await readFields(redis, runId, ids.flatMap(state.stepFieldNames));
  return ids.map((id) => state.parseStep(id, fields)).filter((step) => step !== undefined);
}

export async function readApproval(
  redis: Redis,
  runId: string,
  approvalId: string,
): Promise<domain.ApprovalState | undefined> {
  return state.parseApproval(approvalId, await readFields(redis, runId, state.approvalFieldNames(approvalId)));
}

export async function readRule(redis: Redis, runId: string, ruleId: string): Promise<domain.RuleState | undefined> {
  return state.parseRule(ruleId, await readFields(redis, runId, state.ruleFieldNames(ruleId)));
}

export async function readTask(redis: Redis, runId: string, taskId: string): Promise<domain.TaskState | undefined> {
  return state.parseTask(taskId, await readFields(redis, runId, state.taskFieldNames(taskId)));
}

/** Whether a new sub-agent already counts for the run. A step beneath the run is about to start the sub-agent. */
export async function isReserved(redis: Redis, runId: string, stepId: string): Promise<boolean> {
  return (await redis.hget(stateKey(runId), runFields.reservedField(stepId).name)) !== null;
}

/** The calls received by an open run with this number. */
export async function readReceived(redis: Redis, runId: string, number: number) {
  const stored = await redis.hget(stateKey(runId), runFields.receivedField(number).name);
  return stored === null ? undefined : runFields.receivedCallsSchema.parse(JSON.parse(stored));
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

export type CallCancel = NonNullable<domain.StepState['cancel']>;

/** The request of calls with this Idempotency-Key. @param digest of the key */
export async function readCallsKey(redis: Redis, runId: string, digest: string) {
  const stored = await redis.hget(stateKey(runId), runFields.callsKeyField(digest).name);
  return stored === null ? undefined : runFields.callsKeySchema.parse(JSON.parse(stored));
}

/** All tasks of a run, in the order of their creation. */
export async function readTasks(redis: Redis, runId: string): Promise<domain.TaskState[]> {
  const ids = await readIds(redis, runId, runFields.tasksField.name);
  const fields = ids.length === 0 ? {} : await readFields(redis, runId, ids.flatMap(state.taskFieldNames));
  return ids.flatMap((id) => state.parseTask(id, fields) ?? []);
}

/** All approvals of a run, in the order of their requests. */
export async function readApprovals(redis: Redis, runId: string): Promise<domain.ApprovalState[]> {
  const ids = await readIds(redis, runId, runFields.approvalsField.name);
  const fields = ids.length === 0 ? {} : await readFields(redis, runId, ids.flatMap(state.approvalFieldNames));
  return ids.flatMap((id) => state.parseApproval(id, fields) ?? []);
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
