import { randomUUID } from 'node:crypto';
import type { AuditHead } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { auditCursorsKey, auditEntriesKey, auditHeadKey, auditPendingKey } from '../log/keys.ts';

/** The last record, and the end of the record in the files. */
export interface Place extends AuditHead {
  file: string;
  end: number;
}

/**
 * A batch of records on its way into the files. The batch is announced in Redis first, so any process continuing the work writes the same
 * bytes to the same place: a batch is in the files once, wherever a writer dies or however long a writer stood still.
 */
export interface Batch {
  id: string;
  text: string;
  file: string;
  offset: number;
  head: Place;
  /** The last sealed sequence number of each run in the batch. */
  cursors: Record<string, number>;
  /** How many waiting entries the batch seals. */
  entries: number;
}

const placeSchema = z.strictObject({ seq: z.int(), hash: z.string(), file: z.string(), end: z.int() });
const batchSchema = z.object({
  ...{ id: z.string(), text: z.string(), file: z.string(), offset: z.coerce.number() },
  head: z.string(),
  cursors: z.string(),
  entries: z.coerce.number(),
});

/**
 * KEYS head, pending. ARGV the head as read before, then fields and values of the batch. Changes nothing when another writer was faster.
 */
const beginScript = `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('HSET', KEYS[2], unpack(ARGV, 2))
return 1`;

/** KEYS pending. ARGV id, file, offset, head. */
const moveScript = `if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'file', ARGV[2], 'offset', ARGV[3], 'head', ARGV[4])
return 1`;

/** KEYS head, pending, cursors, entries. ARGV id. */
const commitScript = `if redis.call('HGET', KEYS[2], 'id') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], redis.call('HGET', KEYS[2], 'head'))
for run, to in pairs(cjson.decode(redis.call('HGET', KEYS[2], 'cursors'))) do
  redis.call('HSET', KEYS[3], run, string.format('%.0f', to))
end
redis.call('LTRIM', KEYS[4], redis.call('HGET', KEYS[2], 'entries'), -1)
redis.call('DEL', KEYS[2])
return 1`;

export interface StoredChain {
  /** The text of the head in Redis; empty: none. */
  token: string;
  head: Place | undefined;
  pending: Batch | undefined;
}

export async function readChain(redis: Redis): Promise<StoredChain> {
  const answers = await redis.multi().get(auditHeadKey).hgetall(auditPendingKey).exec();
  const [token, stored] = (answers ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  }) as [string | null, Record<string, string>];
  const head = token === null ? undefined : placeSchema.parse(JSON.parse(token));
  if (Object.keys(stored).length === 0) return { token: token ?? '', head, pending: undefined };
  const batch = batchSchema.parse(stored);
  const pending = {
    ...batch,
    head: placeSchema.parse(JSON.parse(batch.head)),
    cursors: z.record(z.string(), z.int()).parse(JSON.parse(batch.cursors)),
  };
  return { token: token ?? '', head, pending };
}

export const tokenOf = (head: Place): string => JSON.stringify(head);

/** @returns the batch, or undefined when the head has changed */
export async function beginBatch(redis: Redis, token: string, batch: Omit<Batch, 'id'>): Promise<Batch | undefined> {
  const id = randomUUID();
  const { text, file, offset, head, cursors, entries } = batch;
  const fields = { id, text, file, offset, head: tokenOf(head), cursors: JSON.stringify(cursors), entries };
  const argv = [token, ...Object.entries(fields).flat()];
  const isBegun = (await redis.eval(beginScript, 2, auditHeadKey, auditPendingKey, ...argv)) === 1;
  return isBegun ? { id, ...batch } : undefined;
}

/** The batch goes to another file. @returns undefined when another writer finished the batch */
export async function moveBatch(redis: Redis, batch: Batch, file: string): Promise<Batch | undefined> {
  const head = { ...batch.head, file, end: Buffer.byteLength(batch.text) };
  const isMoved = (await redis.eval(moveScript, 1, auditPendingKey, batch.id, file, 0, tokenOf(head))) === 1;
  return isMoved ? { ...batch, file, offset: 0, head } : undefined;
}

/** The bytes are in the file. @returns false when another writer finished the batch */
export async function commitBatch(redis: Redis, { id }: Batch): Promise<boolean> {
  const keys = [auditHeadKey, auditPendingKey, auditCursorsKey, auditEntriesKey];
  return (await redis.eval(commitScript, keys.length, ...keys, id)) === 1;
}
