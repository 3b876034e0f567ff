import type { Payload } from '@holdpoint/contract';
import { z } from 'zod';
import { previewMerge } from '../attempts/task-handle.ts';
import { fromPayload, toPayload } from '../blobs/blob-store.ts';
import type { WorkerDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';

/** A preview of a call that uses what another run made: the call is bound to that as well. */
const mergeSchema = z.object({ kind: z.literal('merge'), run_id: z.string(), snapshot: z.string() });

export interface ShownCall {
  preview?: Payload;
  /** What the call uses beside the files of its run. */
  uses?: string;
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
  const { network } = await readSpec(deps, run);
  const tasks = { previewMerge: (taskId: string) => previewMerge(deps, run, taskId) };
  const shown = await deps.executor.preview(call, { runId: run.id, epoch: run.lease, network, tasks, signal });
  if (shown === undefined) return {};
  const merge = mergeSchema.safeParse(shown).data;
  return {
    preview: await toPayload(deps.blobs, shown),
    ...(merge === undefined ? {} : { uses: `${merge.run_id} ${merge.snapshot}` }),
  };
}
