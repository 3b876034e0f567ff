import type { WorkerDeps } from '@holdpoint/engine/worker';

/** The same deps with `called`: a promise for the given number of calls of a run. */
export function countingCalls<Deps extends WorkerDeps>(
  deps: Deps,
): { deps: Deps; called(runId: string, calls: number): Promise<void> } {
  const made = new Map<string, number>();
  const waiting = new Map<string, { calls: number; resolve: () => void }>();
  const execute: Deps['executor']['execute'] = async (call, context) => {
    const outcome = await deps.executor.execute(call, context);
    const { runId } = context;
    const count = (made.get(runId) ?? 0) + 1;
    made.set(runId, count);
    const wait = waiting.get(runId);
    if (wait !== undefined && count >= wait.calls) wait.resolve();
    return outcome;
  };
  return {
    deps: { ...deps, executor: { ...deps.executor, execute } },
    async called(runId, calls) {
      if ((made.get(runId) ?? 0) < calls) {
        await new Promise<void>((resolve) => waiting.set(runId, { calls, resolve }));
        waiting.delete(runId);
      }
      made.delete(runId);
    },
  };
}
