import type { Redis } from 'ioredis';
import { reservedField } from '../domain/fields/run.ts';
import {
  type ApprovalState,
  parseAllTasks,
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
import { stateKey } from './keys.ts';

/** Fields of a state hash, as Redis returns them. */
export type Fields = Readonly<Record<string, string | null>>;

/** Reads only a run's own fields, however many steps it has. */
export async function readRun(redis: Redis, runId: string): Promise<RunState | undefined> {
  return parseRun(runId, await readFields(redis, runId, runFieldNames));
}

/** One step and its run, in one round trip. */
export async function readStep(
  redis: Redis,
  runId: string,
  stepId: string,
): Promise<{ run: RunState; step: StepState } | undefined> {
  const fields = await readFields(redis, runId, fieldsOfStep(stepId));
  const run = parseRun(runId, fields);
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
  const run = parseRun(runId, fields);
  const step = parseStep(stepId, fields);
  const approval = parseApproval(approvalId, fields);
  return run && step && approval ? { run, step, approval } : undefined;
}

/** The fields of a step and its run. */
export const fieldsOfStep = (stepId: string): string[] => [...runFieldNames, ...stepFieldNames(stepId)];

/** The steps of the current turn, in order. */
export async function readTurnSteps(redis: Redis, run: RunState): Promise<StepState[]> {
  if (run.turn_steps.length === 0) return [];
  const fields = await readFields(redis, run.id, run.turn_steps.flatMap(stepFieldNames));
  return run.turn_steps.map((id) => parseStep(id, fields)).filter((step) => step !== undefined);
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

/** Whether the sub-agent that a step beneath a run is about to start already counts for the run. */
export async function isReserved(redis: Redis, runId: string, stepId: string): Promise<boolean> {
  return (await redis.hget(stateKey(runId), reservedField(stepId).name)) !== null;
}

/** All tasks of a run, in the order in which they were created. Reads the whole hash. */
export async function readTasks(redis: Redis, runId: string): Promise<TaskState[]> {
  return parseAllTasks(await readAll(redis, runId));
}

/** The whole hash, which grows with the run. For views, not for handlers. */
export const readAll = (redis: Redis, runId: string): Promise<Record<string, string>> => redis.hgetall(stateKey(runId));

export async function readFields(
  redis: Redis,
  runId: string,
  names: readonly string[],
): Promise<Record<string, string | null>> {
  const values = await redis.hmget(stateKey(runId), ...names);
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
}
