import { createReadStream } from 'node:fs';
import { type AuditFinding, type AuditHead, type ExportReport, mostFindings } from '@holdpoint/contract';
import { genesis, type ParsedLine, parseLine } from './seal-run.ts';
import { verifyAssertions } from './verify-assertions.ts';

/**
 * Checks an export without Redis and without the data directory: each record against its hash, neighbours against each other, and the
 * decisions that passkeys prove. An export of one run or from a date on has gaps, which are counted and are no finding.
 */
export async function verifyExport(
  file: string,
  { kept }: { kept?: AuditHead | undefined } = {},
): Promise<ExportReport> {
  const findings: AuditFinding[] = [];
  let total = 0;
  const walk = new ExportWalk((finding) => {
    total += 1;
    if (findings.length < mostFindings) findings.push(finding);
  }, kept);
  const isFromStart = await beginsWithFirst(file);
  await verifyAssertions({ lines: walk.through(linesOf(file)), report: walk.report, isFromStart });
  walk.end();
  const { head, records, gaps } = walk;
  return { ok: total === 0, head, records, gaps, findings, findings_total: total };
}

interface Line {
  bytes: Buffer;
  file: string;
  number: number;
}

/** By line feeds alone: `readline` would also split at U+2028, which JSON texts contain. */
async function* linesOf(file: string): AsyncGenerator<Line> {
  let number = 0;
  let rest: Buffer[] = [];
  for await (let chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    for (let feed = chunk.indexOf(10); feed >= 0; feed = chunk.indexOf(10)) {
      number += 1;
      yield { bytes: Buffer.concat([...rest, chunk.subarray(0, feed)]), file, number };
      rest = [];
      chunk = chunk.subarray(feed + 1);
    }
    if (chunk.byteLength > 0) rest.push(chunk);
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), file, number: number + 1 };
}

async function beginsWithFirst(file: string): Promise<boolean> {
  for await (const { bytes } of linesOf(file)) return parseLine(bytes)?.seq === 1;
  return false;
}

class ExportWalk {
  head: AuditHead = genesis;
  records = 0;
  gaps = 0;
  readonly report: (finding: AuditFinding) => void;
  private readonly kept: AuditHead | undefined;
  private keptFound: string | undefined;

  constructor(report: (finding: AuditFinding) => void, kept: AuditHead | undefined) {
    this.report = report;
    this.kept = kept;
  }

  async *through(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
    for await (const line of lines) {
      this.take(line);
      yield line;
    }
  }

  private take({ bytes, file, number }: Line): void {
    const at = { file, line: number };
    const parsed = parseLine(bytes);
    if (parsed === undefined) this.report({ code: 'record_changed', ...at, message: `line ${number} is no record` });
    else this.compare(parsed, at);
  }

  private compare({ seq, prev, hash, isSound }: ParsedLine, at: { file: string; line: number }): void {
    const report = (code: AuditFinding['code'], what: string) =>
      this.report({ code, record: seq, ...at, message: `record ${seq} ${what}` });
    this.records += 1;
    if (seq === this.kept?.seq) this.keptFound = hash;
    if (!isSound) report('record_changed', 'is not what was sealed');
    if (seq <= this.head.seq) report('record_reordered', 'stands after a later one, or twice');
    else if (seq > this.head.seq + 1) this.gaps += 1;
    else if (prev !== this.head.hash) report('record_changed', `does not follow the record ${seq - 1} of this file`);
    if (seq > this.head.seq) this.head = { seq, hash };
  }

  end(): void {
    const { kept, keptFound } = this;
    if (kept === undefined || keptFound === kept.hash) return;
    const what =
      keptFound === undefined
        ? 'is not in this file, so the head that was kept says nothing about it'
        : 'has another hash than the head that was kept: the records were replaced';
    const code = keptFound === undefined ? 'record_missing' : 'head_changed';
    this.report({ code, record: kept.seq, message: `record ${kept.seq} ${what}` });
  }
}
