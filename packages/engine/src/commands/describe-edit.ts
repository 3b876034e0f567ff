import { hasNetwork } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { readSpec } from '../log/read-spec.ts';
import type { ToolCatalog } from '../ports.ts';
import type { StepApproval } from './view-approval.ts';

/** A catalog of the caller, which may say more of a call than the engine needs. */
interface Deps<Described> extends Pick<EngineDeps, 'redis' | 'blobs'> {
  catalog: { describe(call: Parameters<ToolCatalog['describe']>[0]): Described };
}

/** What the catalog says of a held call with edited arguments, in the run that made the call. */
export async function describeEdit<Described>(
  deps: Deps<Described>,
  { run, step }: StepApproval,
  args: unknown,
): Promise<Described> {
  const { network } = await readSpec(deps, run);
  return deps.catalog.describe({
    toolset: run.header.toolset,
    tool: step.call.tool,
    args,
    network: hasNetwork(network),
    unattended: run.parent !== undefined,
  });
}
