import type { AuditHead } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { readChain } from './pending-batch.ts';
import { genesis, parseLine } from './record-line.ts';
import { firstSeqOf, listSegments, readSegment } from './segments.ts';

export interface AuditFilter {
  /** Records of events at this time or later: ISO 8601, UTC. */
  since?: string | undefined;
  run_id?: string | undefined;
  tenant?: string | undefined;
  /** Only records after this sequence number. */
  after?: number | undefined;
}

export interface AuditLine {
  seq: number;
  /** The record's text in the file, without a line feed. */
  text: string;
}

/** The records passing the filter, in the order of the files. Damaged lines are left out: `verify` names them. */
export async function* readAudit(dataDir: string, filter: AuditFilter = {}): AsyncGenerator<AuditLine> {
  const { after = 0, run_id, tenant, since } = filter;
  const from = since === undefined ? undefined : Date.parse(since);
  for (const file of await filesWith(dataDir, { after, from })) {
    for await (const { bytes, isWhole } of readSegment(dataDir, file)) {
      // Most records are of other runs: they are not parsed.
      if (!isWhole || (run_id !== undefined && !bytes.includes(run_id))) continue;
      const line = parseLine(bytes);
      if (!line?.isSound || line.seq <= after) continue;
      const { record } = line;
      if (run_id !== undefined && record.run_id !== run_id) continue;
      if (tenant !== undefined && record.tenant !== tenant) continue;
      if (from !== undefined && Date.parse(String(record.time)) < from) continue;
      yield { seq: line.seq, text: bytes.toString() };
    }
  }
}

/** Leaves out the files before the wanted records: the first record of a file was sealed after all records in the file before. */
async function filesWith(
  dataDir: string,
  { after, from }: { after: number; from: number | undefined },
): Promise<string[]> {
  const files = await listSegments(dataDir);
  let first = 0;
  for (const [at, file] of files.entries()) {
    const isPast = firstSeqOf(file) <= after + 1;
    if (at > 0 && (isPast || (from !== undefined && (await beginOf(dataDir, file)) < from))) first = at;
  }
  return files.slice(first);
}

/** When the first record of a file was sealed. Infinity when the time cannot be read. */
async function beginOf(dataDir: string, file: string): Promise<number> {
  for await (const { bytes } of readSegment(dataDir, file)) {
    const sealedAt = Date.parse(String(parseLine(bytes)?.record.sealed_at));
    return Number.isNaN(sealedAt) ? Number.POSITIVE_INFINITY : sealedAt;
  }
  return Number.POSITIVE_INFINITY;
}

/** The last record. */
export async function readAuditHead({ redis }: { redis: Redis }): Promise<AuditHead> {
  const { head = genesis } = await readChain(redis);
  return { seq: head.seq, hash: head.hash };
}
