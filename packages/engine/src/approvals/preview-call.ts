import { ForbiddenChange, hasNetwork, type Payload, type RunSpec, type Shown, type Verdict } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { forbiddenChange, type RunState, type StepState, scopeOf } from '../domain/index.ts';
import { fromPayload, readSpec, toPayload } from '../log/index.ts';
import { openPast } from '../queries/past-calls.ts';
import { previewMerge } from '../tasks/task-handle.ts';
import { describeCall } from './describe-call.ts';
import { previewResult, usesOf } from './result-preview.ts';

export interface ShownCall {
  preview?: Payload<Shown>;
  /** The call's input in addition to the files of its run. */
  uses?: string | undefined;
  /** The hosts that the call may reach, when the call runs a command or names hosts. */
  reaches?: string[] | undefined;
}

/**
 * The preview of a call for the deciding person.
 * @param wanted the preview kind of the verdict: `run` runs the call on a throw-away fork
 */
export async function previewCall(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
  wanted?: Verdict['preview'],
): Promise<ShownCall> {
  const result = wanted === 'run' && canRunAhead(step) ? await shownResult(deps, run, step, signal) : undefined;
  if (result !== undefined) return result;
  const args = await fromPayload(deps.blobs, step.args);
  const call = { toolset: run.header.toolset, tool: step.call.tool, args };
  const spec = await readSpec(deps, run);
  const { network, settings } = spec;
  const tasks = { previewMerge: (taskId: string) => previewMerge(deps, run, taskId) };
  const shown = await deps.executor.preview(call, {
    ...{ runId: run.id, epoch: run.lease, network, settings, tasks, signal },
    scope: scopeOf(run, spec),
    past: openPast(deps, run, step),
  });
  const reaches = hostsOf(deps, spec, { run, tool: call.tool, args });
  if (shown === undefined) return { reaches };
  return {
    reaches,
    preview: await toPayload(deps.blobs, shown),
    // A merge uses another run's snapshot, so the approval is bound to this snapshot as well.
    uses: shown.kind === 'merge' ? `${shown.run_id} ${shown.snapshot}` : undefined,
  };
}

/** A call whose effect stays in the workspace can run on a fork before the approval. */
export const canRunAhead = ({ effect, call }: StepState): boolean => effect === 'workspace' && call.gate === undefined;

async function shownResult(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<ShownCall | undefined> {
  try {
    const result = await previewResult(deps, run, step, signal);
    return result && { preview: await toPayload(deps.blobs, result), uses: usesOf(result) };
  } catch (error) {
    if (!(error instanceof ForbiddenChange)) throw error;
    const { message } = forbiddenChange(error.paths);
    return { preview: await toPayload(deps.blobs, { kind: 'problem', message }) };
  }
}

/**
 * The hosts that the call may reach: the hosts of the allowlist, and the hosts that the approval opens. A command without an external
 * effect reaches no host.
 */
function hostsOf(
  deps: Pick<WorkerDeps, 'catalog'>,
  spec: RunSpec,
  call: Parameters<typeof describeCall>[2],
): string[] | undefined {
  const described = describeCall(deps, spec, call);
  if (!described.ok || described.touches === undefined) return undefined;
  const { command, argv, hosts } = described.touches;
  const isCommand = command !== undefined || argv !== undefined;
  if (!isCommand && hosts.length === 0) return undefined;
  const reachesOut = isCommand ? described.effect === 'external' : hasNetwork(spec.network);
  return reachesOut || described.reaches ? [...new Set([...spec.network.allow, ...hosts])].sort() : [];
}
