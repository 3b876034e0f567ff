import type { ModelUsage } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { recordModelUse, type StepState } from '../domain/index.ts';
import { append } from '../log/index.ts';
import type { ModelUse } from '../ports/index.ts';

export interface ModelUseRecorder {
  record(use: ModelUse): Promise<void>;
  /** For the outcome of the attempt: whether a model was asked, and the usage that no event has. */
  result(): { askedModel?: true; usage?: ModelUsage };
}

/**
 * Logs the usage of each model request of a call, so that the usage counts even when the worker is lost. A read whose start is not in the
 * log yet gets no event: its outcome has the usage. A usage whose append failed is in neither, because the log may have the usage.
 * @param status of the step: a call with a shown result runs while the step is pending
 */
export function openModelUseRecorder(
  deps: WorkerDeps,
  runId: string,
  { id, attempt }: Pick<StepState, 'id' | 'attempt'>,
  status: 'pending' | 'running' = 'running',
): ModelUseRecorder {
  let askedModel: true | undefined;
  let unrecorded: ModelUsage | undefined;
  return {
    async record(use) {
      askedModel = true;
      try {
        const { ok } = await append(deps, runId, recordModelUse(id, { attempt, status, ...use }));
        if (!ok) unrecorded = sum(unrecorded, use.usage);
      } catch (error) {
        deps.logger.warn({ run_id: runId, step_id: id, err: error }, 'what a tool used of a model may be unrecorded');
      }
    },
    result: () => ({ ...(askedModel && { askedModel }), ...(unrecorded && { usage: unrecorded }) }),
  };
}

/** The cost is known when the cost of each request is known: one call asks one model. */
function sum(before: ModelUsage = { input_tokens: 0, output_tokens: 0 }, usage: ModelUsage): ModelUsage {
  const counted = Object.entries(usage).filter(([, count]) => count !== undefined);
  const sums = counted.map(([name, count]) => [name, (before[name as keyof ModelUsage] ?? 0) + count]);
  return { ...before, ...Object.fromEntries(sums) };
}
