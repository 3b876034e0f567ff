import type { Redis } from 'ioredis';
import type { RunState, StepState } from '../domain/index.ts';
import { parseStored, type StoredStep } from '../domain/state.ts';

/** By connection: steps whose jobs were added together with an append. */
const primed = new WeakMap<Redis, Map<string, StoredStep>>();
const mostKept = 1000;

/** Keeps a step and its run right after an append: this process is likely to get the job next. */
export function prime(redis: Redis, stepId: string, stored: StoredStep): void {
  const known = primed.get(redis) ?? new Map<string, StoredStep>();
  primed.set(redis, known);
  known.set(stepId, stored);
  if (known.size > mostKept) known.delete(known.keys().next().value ?? '');
}

/** Returns the kept step once. It is valid only while the run's sequence number is the same. */
export function takePrimed(
  redis: Redis,
  job: { run_id: string; step_id: string },
): { run: RunState; step: StepState } | undefined {
  const known = primed.get(redis);
  const stored = known?.get(job.step_id);
  if (stored === undefined) return undefined;
  known?.delete(job.step_id);
  return parseStored({ run: job.run_id, step: job.step_id }, stored);
}
