import { type AuditFinding, type AuditHead, type AuditLog, auditLogSchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { type Place, readChain, type StoredChain } from './pending-batch.ts';
import { genesis, parseLine } from './seal-run.ts';
import { firstSeqOf, listSegments, readSegment, type SegmentLine } from './segments.ts';

/** A record with the same bytes as when sealed. */
export interface SoundRecord {
  seq: number;
  kind: string;
  log: AuditLog | undefined;
  loss: Lost | undefined;
}

interface Lost {
  run_id: string;
  from: number;
  to: number;
}

export interface ChainCheck {
  head: AuditHead;
  records: number;
  /** False: records are missing or changed, so ranges cannot be compared with each other. */
  isWhole: boolean;
}

interface Input {
  redis: Redis;
  dataDir: string;
  report: (finding: AuditFinding) => void;
  /** A head kept in another place. */
  kept?: AuditHead | undefined;
}

/** Checks the files alone, and against the head in Redis. Records added during the check are checked, too. */
export async function verifyChain({ redis, dataDir, report, kept }: Input): Promise<ChainCheck> {
  const before = await readChain(redis);
  const walk = new Walk(report, [before.head, kept]);
  for (const file of await listSegments(dataDir)) {
    for await (const line of readSegment(dataDir, file)) await walk.take(line, () => readChain(redis));
  }
  const after = await readChain(redis);
  walk.end({ before, after, kept });
  return { head: walk.last, records: walk.seen.size, isWhole: walk.isWhole };
}

/** Goes through the lines in the order of the files. */
class Walk {
  last: AuditHead = genesis;
  isWhole = true;
  readonly seen = new Numbers();
  private readonly report: (finding: AuditFinding) => void;
  /** Hashes by sequence number, for later comparisons. */
  private readonly wanted = new Map<number, string | undefined>();
  private missing: [number, number][] = [];
  /** Undefined: the line before was no record. */
  private prev: string | undefined = genesis.hash;

  constructor(report: (finding: AuditFinding) => void, wanted: readonly (AuditHead | undefined)[]) {
    this.report = (finding) => {
      this.isWhole = false;
      report(finding);
    };
    for (const head of wanted) if (head !== undefined) this.wanted.set(head.seq, undefined);
  }

  async take(line: SegmentLine, chain: () => Promise<StoredChain>): Promise<void> {
    const { file, number, bytes, isWhole } = line;
    const at = { file, line: number };
    // The writer may be writing the line at this moment.
    if (!isWhole && (await isBeingWritten(line, chain))) return;
    const parsed = isWhole ? parseLine(bytes) : undefined;
    if (parsed === undefined) {
      this.prev = undefined;
      const what = isWhole ? 'is no record' : 'ends in the middle of a record';
      return this.report({ code: 'record_changed', ...at, message: `line ${number} of ${file} ${what}` });
    }
    const { seq, prev, hash, isSound } = parsed;
    const name = { record: seq, ...at };
    if (!isSound) {
      this.report({ code: 'record_changed', ...name, message: `record ${seq} is not what was sealed` });
    }
    if (this.seen.has(seq)) {
      return this.report({ code: 'record_duplicated', ...name, message: `record ${seq} is there twice` });
    }
    this.seen.add(seq);
    if (this.wanted.has(seq)) this.wanted.set(seq, hash);
    if (seq <= this.last.seq) {
      this.found(seq);
      this.prev = undefined;
      return this.report({ code: 'record_reordered', ...name, message: `record ${seq} stands after a later one` });
    }
    if (seq > this.last.seq + 1) this.missing.push([this.last.seq + 1, seq - 1]);
    else if (this.prev !== undefined && prev !== this.prev) {
      const message = `record ${seq} does not follow the record ${seq - 1} that is there: one of the two was replaced`;
      this.report({ code: 'record_changed', ...name, message });
    }
    this.last = { seq, hash };
    this.prev = hash;
  }

  /** Notes a record found after all. */
  private found(seq: number): void {
    this.missing = this.missing.flatMap(([from, to]) => {
      if (seq < from || seq > to) return [[from, to] as [number, number]];
      const parts: [number, number][] = [
        [from, seq - 1],
        [seq + 1, to],
      ];
      return parts.filter(([first, last]) => first <= last);
    });
  }

  end({ before, after, kept }: { before: StoredChain; after: StoredChain; kept: AuditHead | undefined }): void {
    const head = before.head ?? { ...genesis, file: '', end: 0 };
    const known = Math.max(head.seq, kept?.seq ?? 0);
    if (this.last.seq < known) this.missing.push([this.last.seq + 1, known]);
    for (const [from, to] of this.missing) {
      const message = from === to ? `record ${from} is missing` : `the records ${from} to ${to} are missing`;
      this.report({ code: 'record_missing', record: from, message });
    }
    this.compare(head, 'in Redis');
    if (kept !== undefined) this.compare(kept, 'that was kept');
    const newest = Math.max(after.head?.seq ?? 0, after.pending?.head.seq ?? 0);
    if (this.last.seq <= newest) return;
    const message = `the files have records up to ${this.last.seq}, and Redis knows them up to ${newest}: Redis is an older copy`;
    this.report({ code: 'redis_went_back', record: newest + 1, message });
  }

  private compare({ seq, hash }: AuditHead | Place, which: string): void {
    const found = seq === 0 ? genesis.hash : this.wanted.get(seq);
    if (found === undefined || found === hash) return;
    const message = `record ${seq} has another hash than the head ${which}: the records were replaced`;
    this.report({ code: 'head_changed', record: seq, message });
  }
}

async function isBeingWritten({ file, bytes, end }: SegmentLine, chain: () => Promise<StoredChain>): Promise<boolean> {
  const { head, pending } = await chain();
  const isPending = pending?.file === file && Buffer.from(pending.text).includes(bytes);
  return isPending || (head?.file === file && head.end > end);
}

/** Whole numbers, mostly consecutive: a million of them take no memory. */
class Numbers {
  private upTo = 0;
  private readonly beyond = new Set<number>();
  add(value: number): void {
    this.beyond.add(value);
    while (this.beyond.delete(this.upTo + 1)) this.upTo += 1;
  }
  has(value: number): boolean {
    return value <= this.upTo || this.beyond.has(value);
  }
  get size(): number {
    return this.upTo + this.beyond.size;
  }
}

/** The lines of all files. @param upTo leaves out records added since */
export async function* sealedLines(dataDir: string, upTo: number): AsyncGenerator<SegmentLine> {
  for (const file of await listSegments(dataDir)) {
    if (firstSeqOf(file) > upTo) continue;
    for await (const line of readSegment(dataDir, file)) if (line.isWhole) yield line;
  }
}

/** The records with sound bytes, in the order of the files. @param upTo leaves out records added since */
export async function* soundRecords(dataDir: string, upTo: number): AsyncGenerator<SoundRecord> {
  for (const file of await listSegments(dataDir)) {
    for await (const { bytes, isWhole } of readSegment(dataDir, file)) {
      const line = isWhole ? parseLine(bytes) : undefined;
      if (!line?.isSound || line.seq > upTo) continue;
      const { kind, log, run_id, from, to } = line.record as unknown as { kind: string; log: unknown } & Lost;
      yield {
        seq: line.seq,
        kind,
        log: auditLogSchema.optional().safeParse(log).data,
        loss: kind === 'loss' ? { run_id, from, to } : undefined,
      };
    }
  }
}
