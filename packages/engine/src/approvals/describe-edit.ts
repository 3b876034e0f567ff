import type { CallDescription, Json } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { asPlanned } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';
import { describeCall } from './describe-call.ts';
import type { StepApproval } from './view-approval.ts';

/** Describes a held call with edited arguments, in the run that made the call. */
export async function describeEdit(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  { run, step }: StepApproval,
  args: Json,
): Promise<CallDescription> {
  return describeCall(deps, asPlanned(await readSpec(deps, run), step.call), { run, tool: step.call.tool, args });
}
