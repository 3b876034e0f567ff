import { createHash } from 'node:crypto';
import * as contract from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { BlobStore } from '../blobs/blob-store.ts';
import { type Ceilings, cutAtCeilings } from '../domain/ceilings.ts';
import { specField } from '../domain/fields/run.ts';
import { stateKey } from './keys.ts';

const previewLength = 512;
/** The preview is both in the log and in the state of a step. */
const resultPreviewLength = 200;

/** The form of a JSON value in the log: a small value is in the log, a large value is a blob and a preview. `undefined` becomes null. */
export const toPayload = <Value>(blobs: BlobStore, value: Value): Promise<contract.Payload<Value>> =>
  store(blobs, value, { limit: contract.inlineLimit, shown: previewLength });

/** The same for the result of a call. */
export const toResult = <Value>(blobs: BlobStore, value: Value): Promise<contract.Payload<Value>> =>
  store(blobs, value, { limit: contract.resultLimit, shown: resultPreviewLength });

async function store<Value>(
  blobs: BlobStore,
  value: Value,
  { limit, shown }: { limit: number; shown: number },
): Promise<contract.Payload<Value>> {
  const text = JSON.stringify(value ?? null);
  const content = Buffer.from(text);
  if (content.byteLength <= limit) return { json: JSON.parse(text) };
  return { sha256: await blobs.put(content), bytes: content.byteLength, preview: text.slice(0, shown) };
}

/** An event for readers, with its result in place. A result stays a blob when arguments of the same size would be a blob, too. */
export async function withResult(blobs: BlobStore, event: contract.LoggedEvent): Promise<contract.LoggedEvent> {
  if (!contract.settlesStep(event)) return event;
  const { value } = event.data;
  if (value === undefined || 'json' in value || value.bytes > contract.inlineLimit) return event;
  // Without its blob, the event still has the beginning.
  const json = await fromPayload(blobs, value).catch(() => undefined);
  return json === undefined ? event : { ...event, data: { ...event.data, value: { json } } };
}

/** The same form, to be shown only: nothing is stored. */
export function shownPayload<Value>(value: Value): contract.Payload<Value> {
  const text = JSON.stringify(value);
  const content = Buffer.from(text);
  if (content.byteLength <= contract.inlineLimit) return { json: JSON.parse(text) };
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, bytes: content.byteLength, preview: text.slice(0, previewLength) };
}

/** Reads back a value written by `toPayload`. */
export async function fromPayload<Value>(blobs: BlobStore, payload: contract.Payload<Value>): Promise<Value> {
  if ('json' in payload) return payload.json as Value;
  return JSON.parse((await blobs.get(payload.sha256)).toString('utf8'));
}

interface Deps {
  redis: Redis;
  blobs: BlobStore;
  ceilings?: Ceilings;
}

interface Known {
  spec: contract.RunSpec;
  /** The spec after its last cut. */
  cut?: { at: Ceilings; spec: contract.RunSpec };
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
export async function readSpec(deps: Deps, run: SpecOf): Promise<contract.RunSpec> {
  const spec = await readCut(deps, run);
  if (spec.modes.plan !== true || run.plan_approved === undefined) return spec;
  return { ...spec, modes: { ...spec.modes, plan: false } };
}

async function readCut(deps: Deps, run: { id: string }): Promise<contract.RunSpec> {
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

async function readStored({ redis, blobs }: Deps, id: string): Promise<contract.RunSpec> {
  const text = await redis.hget(stateKey(id), specField.name);
  return contract.runSpecSchema.parse(await fromPayload(blobs, contract.payloadSchema.parse(JSON.parse(text ?? ''))));
}
