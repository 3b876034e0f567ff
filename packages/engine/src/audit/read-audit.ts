import type { AuditBody, AuditHead } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { readChain } from './pending-batch.ts';
import { genesis, parseLine } from './seal-run.ts';
import { firstSeqOf, listSegments, readSegment, readSegmentBack } from './segments.ts';

export interface AuditFilter {
  /** Records of events at this time or later: ISO 8601, UTC. */
  since?: string | undefined;
  run_id?: string | undefined;
  tenant?: string | undefined;
  /** Only records of these kinds. */
  kind?: readonly AuditBody['kind'][] | undefined;
  /** Only records after this sequence number. */
  after?: number | undefined;
  /** Only records before this sequence number. */
  before?: number | undefined;
}

export interface AuditLine {
  seq: number;
  /** The record's text in the file, without a line feed. */
  text: string;
}

/** The records passing the filter, in the order of the files. Damaged lines are left out: `verify` names them. */
export async function* readAudit(dataDir: string, filter: AuditFilter = {}): AsyncGenerator<AuditLine> {
  for (const file of await filesWith(dataDir, filter)) {
    for await (const { bytes, isWhole } of readSegment(dataDir, file)) {
      const found = isWhole ? passing(bytes, filter) : undefined;
      if (found !== undefined) yield found;
    }
  }
}

/** The same records, the last first. A page of the newest records reads the end of the last file alone. */
export async function* readAuditBack(dataDir: string, filter: AuditFilter = {}): AsyncGenerator<AuditLine> {
  const { before = Number.POSITIVE_INFINITY } = filter;
  for (const file of (await filesWith(dataDir, filter)).reverse()) {
    if (firstSeqOf(file) >= before) continue;
    for await (const bytes of readSegmentBack(dataDir, file)) {
      const found = passing(bytes, filter);
      if (found !== undefined) yield found;
    }
  }
}

function passing(bytes: Buffer, filter: AuditFilter): AuditLine | undefined {
  const { after = 0, before = Number.POSITIVE_INFINITY, run_id, kind, tenant, since } = filter;
  // Most records are of other runs: they are not parsed.
  if (run_id !== undefined && !bytes.includes(run_id)) return undefined;
  const line = parseLine(bytes);
  if (!line?.isSound || line.seq <= after || line.seq >= before) return undefined;
  const { record } = line;
  if (run_id !== undefined && record.run_id !== run_id) return undefined;
  if (kind !== undefined && !kind.some((one) => one === record.kind)) return undefined;
  if (tenant !== undefined && record.tenant !== tenant) return undefined;
  if (since !== undefined && Date.parse(String(record.time)) < Date.parse(since)) return undefined;
  return { seq: line.seq, text: bytes.toString() };
}

/** Leaves out the files before the wanted records: the first record of a file was sealed after all records in the file before. */
async function filesWith(dataDir: string, { after = 0, since }: AuditFilter): Promise<string[]> {
  const from = since === undefined ? undefined : Date.parse(since);
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
