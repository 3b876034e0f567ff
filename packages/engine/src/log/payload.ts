import { createHash } from 'node:crypto';
import { inlineLimit, type LoggedEvent, type Payload, resultLimit, settlesStep } from '@holdpoint/contract';
import type { BlobStore } from '../blobs/blob-store.ts';

const previewLength = 512;
/** The preview is both in the log and in the state of a step. */
const resultPreviewLength = 200;

/** The form of a JSON value in the log: a small value is in the log, a large value is a blob and a preview. `undefined` becomes null. */
export const toPayload = <Value>(blobs: BlobStore, value: Value): Promise<Payload<Value>> =>
  store(blobs, value, { limit: inlineLimit, shown: previewLength });

/** The same for the result of a call. */
export const toResult = <Value>(blobs: BlobStore, value: Value): Promise<Payload<Value>> =>
  store(blobs, value, { limit: resultLimit, shown: resultPreviewLength });

async function store<Value>(
  blobs: BlobStore,
  value: Value,
  { limit, shown }: { limit: number; shown: number },
): Promise<Payload<Value>> {
  const text = JSON.stringify(value ?? null);
  const content = Buffer.from(text);
  if (content.byteLength <= limit) return { json: JSON.parse(text) };
  return { sha256: await blobs.put(content), bytes: content.byteLength, preview: text.slice(0, shown) };
}

/** An event for readers, with its result in place. A result stays a blob when arguments of the same size would be a blob, too. */
export async function withResult(blobs: BlobStore, event: LoggedEvent): Promise<LoggedEvent> {
  if (!settlesStep(event)) return event;
  const { value } = event.data;
  if (value === undefined || 'json' in value || value.bytes > inlineLimit) return event;
  // Without its blob, the event still has the beginning.
  const json = await fromPayload(blobs, value).catch(() => undefined);
  return json === undefined ? event : { ...event, data: { ...event.data, value: { json } } };
}

/** The same form, to be shown only: nothing is stored. */
export function shownPayload<Value>(value: Value): Payload<Value> {
  const text = JSON.stringify(value);
  const content = Buffer.from(text);
  if (content.byteLength <= inlineLimit) return { json: JSON.parse(text) };
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, bytes: content.byteLength, preview: text.slice(0, previewLength) };
}

/** Reads back a value written by `toPayload`. */
export async function fromPayload<Value>(blobs: BlobStore, payload: Payload<Value>): Promise<Value> {
  if ('json' in payload) return payload.json as Value;
  return JSON.parse((await blobs.get(payload.sha256)).toString('utf8'));
}
