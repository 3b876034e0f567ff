import { isSettled, type Json, type Payload, type RunSpec, type SettledCall } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { type StepState, timesOf } from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'blobs' | 'catalog'>;

/**
 * The result of a step as its toolset's contract says, whatever settled it; undefined before that. It follows from the log alone, so it is
 * the same in every process.
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

/** The arguments that a person put in the place of the caller's. A step that a fork inherited has them in its decisions. */
const editOf = ({ written, args, outcome }: StepState): Payload | undefined =>
  written === undefined ? outcome?.grants?.findLast((grant) => grant.args !== undefined)?.args : args;
