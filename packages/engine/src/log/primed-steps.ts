import type { Redis } from 'ioredis';
import { parseRun, parseStep, type RunState, type StepState } from '../domain/state.ts';
import type { Fields } from './read-state.ts';

/** By connection: what appends primed of steps whose wake-ups went out with them. */
const primed = new WeakMap<Redis, Map<string, Fields>>();
const mostKept = 1000;

/** Keeps how a step and its run stood right after an append: its job is likely to come back to this process at once. */
export function prime(redis: Redis, stepId: string, fields: Fields): void {
  const known = primed.get(redis) ?? new Map<string, Fields>();
  primed.set(redis, known);
  known.set(stepId, fields);
  if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
}

/** What was kept of it, once. It holds only under the condition that the run's sequence number is still the same. */
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
