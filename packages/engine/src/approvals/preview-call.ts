import { hasNetwork, type Network, type Payload, type Shown } from '@holdpoint/contract';
import { previewMerge } from '../attempts/task-handle.ts';
import type { WorkerDeps } from '../deps.ts';
import { type RunState, type StepState, scopeOf } from '../domain/index.ts';
import { fromPayload, readSpec, toPayload } from '../log/index.ts';
import type { Call } from '../ports/index.ts';

export interface ShownCall {
  preview?: Payload<Shown>;
  /** What the call uses beside the files of its run. */
  uses?: string | undefined;
  /** The hosts that it may reach, when it runs a command or names hosts. */
  reaches?: string[] | undefined;
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
  const reaches = hostsOf(deps, run, call, network);
  if (shown === undefined) return { reaches };
  return {
    reaches,
    preview: await toPayload(deps.blobs, shown),
    // A merge uses what another run made, so the approval is bound to that as well.
    uses: shown.kind === 'merge' ? `${shown.run_id} ${shown.snapshot}` : undefined,
  };
}

/** The allowlist, and the hosts that the approval opens for the call. */
function hostsOf(
  { catalog }: Pick<WorkerDeps, 'catalog'>,
  { parent }: Pick<RunState, 'parent'>,
  call: Call,
  network: Network,
): string[] | undefined {
  const described = catalog.describe({ ...call, network: hasNetwork(network), unattended: parent !== undefined });
  if (!described.ok || described.touches === undefined) return undefined;
  const { command, argv, hosts } = described.touches;
  if (command === undefined && argv === undefined && hosts.length === 0) return undefined;
  return hasNetwork(network) ? [...new Set([...network.allow, ...hosts])].sort() : [];
}
