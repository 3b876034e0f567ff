import type { Payload, Shown } from '@holdpoint/contract';
import { previewMerge } from '../attempts/task-handle.ts';
import type { WorkerDeps } from '../deps.ts';
import { type RunState, type StepState, scopeOf } from '../domain/index.ts';
import { fromPayload, readSpec, toPayload } from '../log/index.ts';

export interface ShownCall {
  preview?: Payload<Shown>;
  /** What the call uses beside the files of its run. */
  uses?: string | undefined;
}

/** What a person sees before deciding on a call. */
export async function previewCall(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<ShownCall> {
  const args = await fromPayload(deps.blobs, step.args);
  const call = { toolset: run.header.toolset, tool: step.call.tool, args };
  const spec = await readSpec(deps, run);
  const { network } = spec;
  const tasks = { previewMerge: (taskId: string) => previewMerge(deps, run, taskId) };
  const shown = await deps.executor.preview(call, {
    ...{ runId: run.id, epoch: run.lease, network, tasks, signal },
    scope: scopeOf(run, spec),
  });
  if (shown === undefined) return {};
  return {
    preview: await toPayload(deps.blobs, shown),
    // A merge uses what another run made, so the approval is bound to that as well.
    uses: shown.kind === 'merge' ? `${shown.run_id} ${shown.snapshot}` : undefined,
  };
}
