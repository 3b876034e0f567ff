import type { Redis } from 'ioredis';
import { approvalField, approvalTable } from '../domain/fields/approval.ts';
import { idsAfter } from '../log/index.ts';
import { ownerKey, stateKey } from '../log/keys.ts';

const most = 1000;

/** When the first of the oldest approvals of an index expires, milliseconds since the epoch; infinity: none is pending. */
export async function readNextExpiry(redis: Redis, index: string): Promise<number> {
  const ids = await idsAfter(redis, index, undefined, most);
  if (ids.length === 0) return Number.POSITIVE_INFINITY;
  const owners = await redis.mget(ids.map(ownerKey));
  const owned = ids.flatMap((id, at) => {
    const runId = owners[at];
    return typeof runId === 'string' ? [{ id, runId }] : [];
  });
  const replies = (await redis.pipeline(owned.map(({ id, runId }) => readFields(id, runId))).exec()) ?? [];
  const times = replies.map(([error, reply]) => {
    if (error) throw error;
    return expiryOf(reply as (string | null)[]);
  });
  return Math.min(Number.POSITIVE_INFINITY, ...times);
}

const readFields = (id: string, runId: string): string[] => {
  const { status, request } = approvalField;
  return ['hmget', stateKey(runId), status(id).name, request(id).name];
};

/** An index entry may be a moment ahead of its append, or behind it. */
function expiryOf([status, request]: (string | null)[]): number {
  if (status !== 'pending' || request == null) return Number.POSITIVE_INFINITY;
  return Date.parse(approvalTable.request.schema.parse(request).expires_at);
}
