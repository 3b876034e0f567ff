import { modelOfRun } from '../agents/model-of-run.ts';
import type { WorkerDeps } from '../deps.ts';
import { type RunState, type StepState, scopeOf } from '../domain/index.ts';
import { fromPayload, readSpec } from '../log/index.ts';
import { openPast } from '../queries/past-calls.ts';

/** The reason why the tool wants a person's decision before the call, in the present workspace; undefined when the tool has no question. */
export async function askTool(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (step.call.looks === undefined) return undefined;
  const args = await fromPayload(deps.blobs, step.args);
  const spec = await readSpec(deps, run);
  const { network, settings } = spec;
  const call = { toolset: run.header.toolset, tool: step.call.tool, args };
  const scope = scopeOf(run, spec);
  const past = openPast(deps, run, step);
  const model = modelOfRun(deps, run, spec);
  return deps.executor.asks(call, { runId: run.id, epoch: run.lease, model, network, past, scope, settings, signal });
}
