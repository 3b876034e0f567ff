import { isSettled, type Json, type Payload, type RunSpec, type SettledCall } from '@holdpoint/contract';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { EngineDeps } from '../deps.ts';
import { type StepState, timesOf } from '../domain/index.ts';
import { Damaged, fromPayload, readEntry, shownPayload } from '../log/index.ts';

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

/** Shortened results of large payloads, by step. Each result is read once per process: clients request the same list repeatedly. */
const large = new WeakMap<BlobStore, Map<string, Payload<Json>>>();
const mostKept = 500;

/** The results of steps as lists show them: a large result as its beginning. null: the step is not settled. */
export async function listResults(
  deps: Pick<EngineDeps, 'blobs' | 'catalog'>,
  spec: RunSpec | Damaged,
  steps: readonly StepState[],
): Promise<(Payload<Json> | Damaged | null)[]> {
  const known = large.get(deps.blobs) ?? new Map<string, Payload<Json>>();
  large.set(deps.blobs, known);
  const results: (Payload<Json> | Damaged | null)[] = [];
  // One after the other: each result may be many megabytes.
  for (const step of steps) {
    const key = `${step.id} ${step.status}`;
    const before = known.get(key);
    const result = before === undefined ? await resultOf(deps, spec, step) : undefined;
    if (result instanceof Damaged) {
      results.push(result);
      continue;
    }
    const shown = before ?? (result === undefined ? null : shownPayload(result));
    if (shown !== null && isLarge(step)) known.set(key, shown);
    if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
    results.push(shown);
  }
  return results;
}

/** An unreadable result does not affect the results of other steps. */
const resultOf = (deps: Pick<EngineDeps, 'blobs' | 'catalog'>, spec: RunSpec | Damaged, step: StepState) =>
  spec instanceof Damaged ? new Damaged(step.id, spec.error) : readEntry(step.id, () => presentStep(deps, spec, step));

const isLarge = ({ args, outcome }: StepState): boolean =>
  [args, outcome?.value].some((payload) => payload !== undefined && 'sha256' in payload);
