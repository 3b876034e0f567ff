import { randomUUID } from 'node:crypto';
import { type AuditHead, auditEntrySchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { runField } from '../domain/index.ts';
import { pagesOfRuns } from '../log/index.ts';
import { auditCursorsKey, auditEntriesKey, auditHeadKey, auditPendingKey, stateKey } from '../log/keys.ts';
import { firstRecorded, genesis, parseLine } from './seal-run.ts';
import { readSegment } from './segments.ts';

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

/** How far the audit log is. `verify` reads the whole log; this function reads its last file and the newest runs. */
export interface AuditState {
  /** The last record named by Redis. */
  head: AuditHead;
  /** When the record was sealed; undefined when the files lack the sound record, or no record exists. */
  sealedAt: string | undefined;
  /** The time of the first event or entry not yet covered by a record, ISO 8601. */
  unsealedSince: string | undefined;
}

const runsLookedAt = 500;

export async function readAuditState({ redis, dataDir }: { redis: Redis; dataDir: string }): Promise<AuditState> {
  const { head } = await readChain(redis);
  const waiting = [await firstEntry(redis), ...(await firstEvents(redis))].filter((time) => time !== undefined);
  const unsealedSince = waiting.toSorted()[0];
  if (head === undefined) return { head: genesis, sealedAt: undefined, unsealedSince };
  const { seq, hash } = head;
  return { head: { seq, hash }, sealedAt: await sealedAt(dataDir, head), unsealedSince };
}

async function sealedAt(dataDir: string, head: AuditHead & { file: string; end: number }): Promise<string | undefined> {
  for await (const { bytes, end, isWhole } of readSegment(dataDir, head.file)) {
    if (end !== head.end || !isWhole) continue;
    const line = parseLine(bytes);
    return line?.isSound && line.hash === head.hash ? String(line.record.sealed_at) : undefined;
  }
  return undefined;
}

async function firstEntry(redis: Redis): Promise<string | undefined> {
  const [text] = await redis.lrange(auditEntriesKey, 0, 0);
  return text === undefined ? undefined : auditEntrySchema.parse(JSON.parse(text)).time;
}

async function firstEvents(redis: Redis): Promise<(string | undefined)[]> {
  for await (const ids of pagesOfRuns(redis, runsLookedAt)) {
    const [cursors, ...seqs] = await Promise.all([
      redis.hmget(auditCursorsKey, ...ids),
      ...ids.map((id) => redis.hget(stateKey(id), runField.seq.name)),
    ]);
    const sealed = (at: number): number => Number(cursors[at] ?? 0);
    const behind = ids.map((id, at) => ({ id, at })).filter(({ at }) => Number(seqs[at] ?? 0) > sealed(at));
    return Promise.all(behind.map(({ id, at }) => firstRecorded({ redis }, id, sealed(at))));
  }
  return [];
}
