import { type AuditHead, auditEntrySchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/index.ts';
import { pagesOfRuns } from '../log/index.ts';
import { auditCursorsKey, auditEntriesKey, stateKey } from '../log/keys.ts';
import { readChain } from './pending-batch.ts';
import { genesis, parseLine } from './record-line.ts';
import { firstRecorded } from './seal-run.ts';
import { readSegment } from './segments.ts';

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
