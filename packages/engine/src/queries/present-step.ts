import { isSettled, type Json, type Payload, type RunSpec, type SettledCall } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { type StepState, timesOf } from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'blobs' | 'catalog'>;

/**
 * The result of a step in the form of its toolset's contract; undefined before the step settles. Computed from the log alone, so every
 * process gets the same result.
 */
export async function presentStep(deps: Deps, spec: RunSpec, step: StepState): Promise<Json | undefined> {
  if (!isSettled(step.status)) return undefined;
  const read = async (payload: Payload | undefined) => payload && (await fromPayload(deps.blobs, payload));
  const { outcome, call } = step;
  return deps.catalog.present(spec.toolset, {
    tool: call.tool,
    args: await fromPayload(deps.blobs, step.written ?? call.written ?? step.args),
    edited: await read(editOf(step)),
    status: step.status as SettledCall['status'],
    value: await read(outcome?.value),
    instead: outcome?.instead,
    error: outcome?.error,
    times: timesOf(step, spec.modes),
    settings: spec.settings,
    modes: spec.modes,
  });
}

/** The arguments with which a person replaced the caller's. An inherited step of a fork has them in its decisions. */
const editOf = ({ written, args, outcome }: StepState): Payload | undefined =>
  written === undefined ? outcome?.grants?.findLast((grant) => grant.args !== undefined)?.args : args;
