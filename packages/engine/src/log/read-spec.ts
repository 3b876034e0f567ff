import { payloadSchema, type RunSpec, runSpecSchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../blobs/blob-store.ts';
import { type Ceilings, cutAtCeilings } from '../domain/ceilings.ts';
import { specField } from '../domain/fields/run.ts';
import { stateKey } from './keys.ts';
import { fromPayload } from './payload.ts';

interface Deps {
  redis: Redis;
  blobs: BlobStore;
  ceilings?: Ceilings;
}

interface Known {
  spec: RunSpec;
  /** The spec after its last cut. */
  cut?: { at: Ceilings; spec: RunSpec };
}

/** A spec never changes and every step reads its spec: a plan of 500 groups is parsed once per process, not per step. */
const parsed = new WeakMap<BlobStore, Map<string, Known>>();
const mostKept = 200;

/** @param plan_approved the approved plan of a run that began in plan mode */
interface SpecOf {
  id: string;
  plan_approved?: string | undefined;
}

/**
 * The job description of a run, with its limits cut at the operator's current ceilings. Without an approved plan, plan mode is on in a run that
 * began in it.
 */
export async function readSpec(deps: Deps, run: SpecOf): Promise<RunSpec> {
  const spec = await readCut(deps, run);
  if (spec.modes.plan !== true || run.plan_approved === undefined) return spec;
  return { ...spec, modes: { ...spec.modes, plan: false } };
}

async function readCut(deps: Deps, run: { id: string }): Promise<RunSpec> {
  const known = await readSubmitted(deps, run);
  const { ceilings } = deps;
  if (ceilings === undefined || Object.keys(ceilings).length === 0) return known.spec;
  if (known.cut?.at !== ceilings) {
    known.cut = { at: ceilings, spec: { ...known.spec, limits: cutAtCeilings(known.spec.limits, ceilings) } };
  }
  return known.cut.spec;
}

async function readSubmitted(deps: Deps, { id }: { id: string }): Promise<Known> {
  const known = parsed.get(deps.blobs) ?? new Map<string, Known>();
  parsed.set(deps.blobs, known);
  const spec = known.get(id) ?? { spec: await readStored(deps, id) };
  // The map is in order of use: its first entry is the least recently used.
  known.delete(id);
  known.set(id, spec);
  if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
  return spec;
}

async function readStored({ redis, blobs }: Deps, id: string): Promise<RunSpec> {
  const text = await redis.hget(stateKey(id), specField.name);
  return runSpecSchema.parse(await fromPayload(blobs, payloadSchema.parse(JSON.parse(text ?? ''))));
}
