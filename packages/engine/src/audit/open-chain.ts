import { type AuditHead, type AuditLog, defaultTenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { auditCursorsKey, auditEntriesKey } from '../log/keys.ts';
import type { Logger } from '../ports/index.ts';
import { type Batch, beginBatch, commitBatch, moveBatch, type Place, readChain, tokenOf } from './pending-batch.ts';
import { genesis, parseLine, RangeDigest, readStored, type Sealable, sealLine } from './seal-run.ts';
import { listSegments, readSegment, segmentName, sizeOfSegment, writeSegment } from './segments.ts';

export interface ChainDeps {
  redis: Redis;
  dataDir: string;
  logger: Logger;
  now: () => number;
  /** After this number of bytes the records continue in another file. @default 32 MiB */
  segmentBytes?: number;
  /** Called when Redis went back to an earlier time and these runs lost sealed events. A record of each is sealed by then. */
  onLosses?: (runs: number) => void;
}

/** Another process moved the head: the chain has to be read again. */
export class ChainMoved extends Error {
  override readonly name = 'ChainMoved';
}

/** The end of the chain, for a single writer. */
export interface Chain {
  readonly head: AuditHead;
  /** Seals records, durably and all or none. @throws ChainMoved */
  add(records: readonly Sealable[], sealed: Pick<Batch, 'cursors' | 'entries'>): Promise<void>;
}

const defaultSegmentBytes = 32 * 1024 ** 2;

/**
 * Finishes the batch of a dead writer, and finds the end of the chain. When the files are ahead of Redis, Redis is an older copy: the
 * records stay, and each run whose log went back gets a record about its loss.
 */
export async function openChain(deps: ChainDeps): Promise<Chain> {
  const { redis } = deps;
  const { pending } = await readChain(redis);
  if (pending !== undefined) await finish(deps, pending);
  const stored = await readChain(redis);
  if (stored.pending !== undefined) throw new ChainMoved('another writer began a batch');
  let token = stored.token;
  let head = stored.head ?? { ...genesis, file: '', end: 0 };
  const found = await readAhead(deps, head);

  const add: Chain['add'] = async (records, { cursors, entries }) => {
    const sealedAt = new Date(deps.now()).toISOString();
    let next: AuditHead = head;
    let text = '';
    for (const record of records) {
      const sealed = sealLine(next, record, sealedAt);
      text += sealed.line;
      next = sealed.head;
    }
    const isFull = records.length > 0 && (head.file === '' || head.end >= (deps.segmentBytes ?? defaultSegmentBytes));
    const place = isFull ? { file: segmentName(head.seq + 1), end: 0 } : head;
    const { file, end: offset } = place;
    const newHead: Place = { seq: next.seq, hash: next.hash, file, end: offset + Buffer.byteLength(text) };
    const batch = await beginBatch(redis, token, { text, file, offset, head: newHead, cursors, entries });
    if (batch === undefined) throw new ChainMoved('another writer moved the head');
    head = (await finish(deps, batch)).head;
    token = tokenOf(head);
  };
  if (found !== undefined) {
    deps.logger.error(
      { redis: head.seq, files: found.head.seq },
      'Redis is an older copy: the audit log has records that Redis does not know',
    );
    head = found.head;
    const { losses, cursors } = await findLosses(deps, found.ranges);
    await removeSealedEntries(redis, found.entries);
    await add(losses, { cursors, entries: 0 });
    if (losses.length > 0) deps.onLosses?.(losses.length);
  }
  return {
    get head() {
      return { seq: head.seq, hash: head.hash };
    },
    add,
  };
}

/** @throws ChainMoved when another process finished the batch */
async function finish(deps: ChainDeps, begun: Batch): Promise<Batch> {
  const { redis, dataDir } = deps;
  let batch: Batch | undefined = begun;
  const bytes = Buffer.from(batch.text);
  while (bytes.byteLength > 0 && (await writeSegment(dataDir, batch.file, batch.offset, bytes)) === 'damaged') {
    const firstSeq = batch.head.seq - batch.text.split('\n').length + 2;
    const file = await freeName(dataDir, firstSeq);
    deps.logger.error(
      { file: batch.file, continued: file },
      'a file of the audit log was changed; it stays as it is, and the records continue in another one',
    );
    batch = await moveBatch(redis, batch, file);
    if (batch === undefined) throw new ChainMoved('another writer finished the batch');
  }
  if (!(await commitBatch(redis, batch))) throw new ChainMoved('another writer finished the batch');
  return batch;
}

async function freeName(dataDir: string, firstSeq: number): Promise<string> {
  const taken = new Set(await listSegments(dataDir));
  for (let copy = 0; ; copy++) {
    const name = segmentName(firstSeq, copy);
    if (!taken.has(name)) return name;
  }
}

interface Ahead {
  head: Place;
  ranges: SealedRange[];
  entries: Set<string>;
}

/** The records in the files after the head of Redis, if any. */
async function readAhead({ dataDir }: ChainDeps, head: Place): Promise<Ahead | undefined> {
  const files = await listSegments(dataDir);
  const from = files.indexOf(head.file);
  const isAtEnd = from === files.length - 1 && (await sizeOfSegment(dataDir, head.file)) === head.end;
  if (files.length === 0 || isAtEnd) return undefined;
  const ahead: Ahead = { head, ranges: [], entries: new Set() };
  for (const file of files.slice(Math.max(0, from))) {
    for await (const { bytes, end, isWhole } of readSegment(dataDir, file, file === head.file ? head.end : 0)) {
      const line = isWhole ? parseLine(bytes) : undefined;
      if (!line?.isSound || line.seq !== ahead.head.seq + 1 || line.prev !== ahead.head.hash) break;
      ahead.head = { seq: line.seq, hash: line.hash, file, end };
      const { log, tenant, entry_id } = line.record as { log?: AuditLog; tenant: string; entry_id?: string };
      if (log !== undefined) ahead.ranges.push({ ...log, marks: undefined, tenant });
      if (entry_id !== undefined) ahead.entries.add(entry_id);
    }
  }
  return ahead.head.seq === head.seq ? undefined : ahead;
}

async function removeSealedEntries(redis: Redis, sealed: ReadonlySet<string>): Promise<void> {
  if (sealed.size === 0) return;
  for (const text of await redis.lrange(auditEntriesKey, 0, -1)) {
    if (sealed.has((JSON.parse(text) as { id: string }).id)) await redis.lrem(auditEntriesKey, 0, text);
  }
}

type SealedRange = AuditLog & { tenant: string };

/**
 * Compares the sealed events of each run with Redis, after Redis went back to an earlier time.
 * @param ranges the sealed ranges that Redis does not know as sealed
 * @returns a record per run with lost events, and where sealing continues
 */
async function findLosses(
  { redis, now }: { redis: Redis; now: () => number },
  ranges: readonly SealedRange[],
): Promise<{ losses: Sealable[]; cursors: Record<string, number> }> {
  const losses: Sealable[] = [];
  const cursors: Record<string, number> = {};
  for (const [runId, sealed] of byRun(ranges)) {
    const known = Number((await redis.hget(auditCursorsKey, runId)) ?? 0);
    let kept = known;
    let last = known;
    for (const range of sealed) {
      last = Math.max(last, range.to);
      if (range.from === kept + 1 && (await isKept(redis, range))) kept = range.to;
    }
    cursors[runId] = kept;
    if (last === kept) continue;
    const body = { kind: 'loss' as const, run_id: runId, from: kept + 1, to: last };
    losses.push({ body, time: new Date(now()).toISOString(), tenant: sealed[0]?.tenant ?? defaultTenant });
  }
  return { losses, cursors };
}

async function isKept(redis: Redis, { run_id, from, to, digest }: SealedRange): Promise<boolean> {
  const found = new RangeDigest();
  for await (const events of readStored(redis, run_id, from, to)) for (const event of events) found.add(event);
  return found.end().digest === digest;
}

function byRun(ranges: readonly SealedRange[]): Map<string, SealedRange[]> {
  const runs = new Map<string, SealedRange[]>();
  for (const range of ranges) {
    const known = runs.get(range.run_id) ?? [];
    known.push(range);
    runs.set(range.run_id, known);
  }
  return runs;
}
