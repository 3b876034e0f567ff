import type { Redis } from 'ioredis';
import { parseRun, type RunState, type StepState } from '../domain/index.ts';
import { parseStep } from '../domain/state.ts';
import type { Fields } from './read-state.ts';

/** By connection: the fields of steps whose jobs were added together with an append. */
const primed = new WeakMap<Redis, Map<string, Fields>>();
const mostKept = 1000;

/** Keeps the fields of a step and its run right after an append: this process is likely to get the job next. */
export function prime(redis: Redis, stepId: string, fields: Fields): void {
  const known = primed.get(redis) ?? new Map<string, Fields>();
  primed.set(redis, known);
  known.set(stepId, fields);
  if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
}

/** Returns the kept step once. It is valid only while the run's sequence number is the same. */
export function takePrimed(
  redis: Redis,
  { run_id: runId, step_id: stepId }: { run_id: string; step_id: string },
): { run: RunState; step: StepState } | undefined {
  const fields = primed.get(redis)?.get(stepId);
  if (fields === undefined) return undefined;
  primed.get(redis)?.delete(stepId);
  const run = parseRun(runId, fields);
  const step = parseStep(stepId, fields);
  return run && step ? { run, step } : undefined;
}
