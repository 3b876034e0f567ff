import { createHash } from 'node:crypto';
import { inlineLimit, type Payload } from '@holdpoint/contract';
import type { BlobStore } from '../blobs/blob-store.ts';

const previewLength = 512;

/** The form of a JSON value in the log: the value itself when small, otherwise a blob and a preview. `undefined` becomes null. */
export async function toPayload<Value>(blobs: BlobStore, value: Value): Promise<Payload<Value>> {
  const text = JSON.stringify(value ?? null);
  const content = Buffer.from(text);
  if (content.byteLength <= inlineLimit) return { json: JSON.parse(text) };
  return { sha256: await blobs.put(content), bytes: content.byteLength, preview: text.slice(0, previewLength) };
}

/** The same form, to be shown only: nothing is stored. */
export function shownPayload<Value>(value: Value): Payload<Value> {
  const text = JSON.stringify(value);
  const content = Buffer.from(text);
  if (content.byteLength <= inlineLimit) return { json: JSON.parse(text) };
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, bytes: content.byteLength, preview: text.slice(0, previewLength) };
}

/** The value as `toPayload` wrote it. */
export async function fromPayload<Value>(blobs: BlobStore, payload: Payload<Value>): Promise<Value> {
  if ('json' in payload) return payload.json as Value;
  return JSON.parse((await blobs.get(payload.sha256)).toString('utf8'));
}
