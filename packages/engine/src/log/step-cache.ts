import type { Redis } from 'ioredis';
import type { RunState, StepState } from '../domain/index.ts';
import { parseStored, type StoredStep } from '../domain/state.ts';
import { KnownState } from '../events/known-state.ts';

/** By connection: steps whose jobs were added together with an append. */
const cached = new WeakMap<Redis, Map<string, StoredStep>>();
const mostKept = 1000;

/** Keeps a step and its run right after an append: this process is likely to get the job next. */
export function cacheStep(redis: Redis, stepId: string, stored: StoredStep): void {
  const kept = cached.get(redis) ?? new Map<string, StoredStep>();
  cached.set(redis, kept);
  kept.set(stepId, stored);
  if (kept.size > mostKept) kept.delete(kept.keys().next().value ?? '');
}

/** Returns the kept step once. The step is valid only while the run's sequence number is the same. */
export function takeCachedStep(
  redis: Redis,
  job: { run_id: string; step_id: string },
): { run: RunState; step: StepState; known: KnownState } | undefined {
  const kept = cached.get(redis);
  const stored = kept?.get(job.step_id);
  if (stored === undefined) return undefined;
  kept?.delete(job.step_id);
  const found = parseStored({ run: job.run_id, step: job.step_id }, stored);
  return found && { ...found, known: new KnownState(found.run, job.step_id, stored) };
}
