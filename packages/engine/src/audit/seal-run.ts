import { createHash, type Hash, hash as hashOf } from 'node:crypto';
import { type AuditBody, type AuditHead, type AuditLog, auditVersion, type RunEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { bodyOfEvent, isRecorded, learn } from '../events/record-of.ts';
import { logKey } from '../log/keys.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import type { Logger } from '../ports/index.ts';
import type { Redact } from '../records/audit-text.ts';
import { noFacts, type RunFacts } from '../records/run-facts.ts';

/** The head of an empty chain. */
export const genesis: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** The sealed part of a record before its place in the chain is known. */
export interface Sealable {
  body: AuditBody;
  time: string;
  tenant: string;
  log?: AuditLog;
}

/**
 * The next line of the chain, with its line feed. `hash` is the last member and covers the exact bytes of the line before the member, so
 * readers need no canonical form.
 */
export function sealLine(
  { seq, hash: prev }: AuditHead,
  { body, time, tenant, log }: Sealable,
  sealedAt: string,
): { line: string; head: AuditHead } {
  const chain = { v: auditVersion, seq: seq + 1, prev, sealed_at: sealedAt, time, tenant };
  const text = JSON.stringify({ ...chain, ...body, log });
  const hash = sha256(text);
  return { line: `${text.slice(0, -1)},"hash":"${hash}"}\n`, head: { seq: seq + 1, hash } };
}

/** A line of the files. `isSound`: the hash matches the bytes of the line. */
export interface ParsedLine {
  seq: number;
  prev: string;
  hash: string;
  isSound: boolean;
  record: Record<string, unknown>;
}

const tail = /^,"hash":"([0-9a-f]{64})"}$/;
const tailBytes = ',"hash":""}'.length + 64;

/** @param line without its line feed. @returns undefined when the line is no record at all */
export function parseLine(line: Buffer): ParsedLine | undefined {
  const at = line.byteLength - tailBytes;
  if (at < 2) return undefined;
  const [, hash] = tail.exec(line.subarray(at).toString('latin1')) ?? [];
  const record = objectFrom(line.toString('utf8'));
  if (hash === undefined || record === undefined) return undefined;
  const { seq, prev } = record;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1 || typeof prev !== 'string') return undefined;
  const isSound = createHash('sha256').update(line.subarray(0, at)).update('}').digest('hex') === hash;
  return { seq, prev, hash, isSound, record };
}

function objectFrom(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export const sha256 = (content: string | Buffer): string => hashOf('sha256', content);

/** An event as stored in Redis. */
export interface StoredEvent {
  /** `SEQ-0`. */
  id: string;
  seq: number;
  /** Its JSON text, byte by byte. Undefined: the entry has other fields than every event has. */
  text: Buffer | undefined;
}

/** Digests of events in their order, with marks for naming a changed event later. */
export class RangeDigest {
  private readonly hash: Hash = createHash('sha256');
  private marks = '';
  private count = 0;

  add({ id, text = Buffer.from('\0') }: StoredEvent): void {
    this.hash.update(`${id} `).update(text).update('\n');
    this.count += 1;
    if (this.count <= mostMarks) this.marks += markOf(text);
  }

  end(): Pick<AuditLog, 'digest' | 'marks'> {
    const digest = this.hash.digest('hex');
    return this.count > mostMarks ? { digest } : { digest, marks: this.marks };
  }
}

/** A range has few events, unless a call connects to hundreds of places. */
const mostMarks = 200;
export const markLength = 8;
export const markOf = (text: Buffer): string => hashOf('sha256', text).slice(0, markLength);

const page = 50;

/** The stored events from `from` to `to`, page by page, with any entries put between two sequence numbers. */
export async function* readStored(
  redis: Redis,
  runId: string,
  from: number,
  to?: number,
): AsyncGenerator<StoredEvent[]> {
  // An id without its second half means the first entry as a start, and the last entry as an end.
  let start = from <= 1 ? '-' : String(from);
  const end = to === undefined ? '+' : String(to);
  for (;;) {
    const entries = await redis.xrangeBuffer(logKey(runId), start, end, 'COUNT', page);
    const events = entries.map(([id, fields]) => toStored(id.toString(), fields));
    if (events.length > 0) yield events;
    if (events.length < page) return;
    start = `(${events.at(-1)?.id}`;
  }
}

function toStored(id: string, fields: Buffer[]): StoredEvent {
  const [name, text] = fields;
  const isEvent = fields.length === 2 && name?.toString() === 'e';
  return { id, seq: Number(id.slice(0, id.indexOf('-'))), text: isEvent ? text : undefined };
}

export interface SealDeps {
  redis: Redis;
  logger: Logger;
  /** Makes the secrets of a tenant unreadable. */
  redact: (text: string, tenant: string) => string;
}

/** How far a run is read and sealed. Thrown away when a batch was not committed: the cursor in Redis is the truth. */
export interface RunProgress {
  facts: RunFacts;
  /** The last event in the facts and in `open`. */
  read: number;
  sealed: number;
  /** The digest of the events after `sealed`. */
  open: RangeDigest;
  /** The time of the last event read. */
  time: string;
}

/** @param sealed the cursor of the run */
export async function openProgress({ redis }: SealDeps, runId: string, sealed: number): Promise<RunProgress> {
  const facts = noFacts();
  if (sealed > 0) {
    for await (const events of readStored(redis, runId, 1, sealed)) {
      for (const stored of events) {
        const event = eventFrom(runId, stored);
        if (event === undefined) continue;
        tryTo(() => learn(facts, event));
        // Called only to drop the facts used up by the event's record.
        tryTo(() => bodyOfEvent(facts, event, () => ''));
      }
    }
  }
  return { facts, read: sealed, sealed, open: new RangeDigest(), time: new Date(0).toISOString() };
}

/** Whether the log has a new event in need of a record. Cheaper than learning the facts of a long run. */
export const hasRecord = async (deps: Pick<SealDeps, 'redis'>, runId: string, after: number): Promise<boolean> =>
  (await firstRecorded(deps, runId, after)) !== undefined;

/** The time of the first new event in need of a record. */
export async function firstRecorded(
  { redis }: Pick<SealDeps, 'redis'>,
  runId: string,
  after: number,
): Promise<string | undefined> {
  for await (const events of readStored(redis, runId, after + 1)) {
    const found = events.map((stored) => eventFrom(runId, stored)).find((event) => isRecorded(String(event?.type)));
    if (found !== undefined) return found.time;
  }
  return undefined;
}

/** The records about the new events of a run. Events after the last event with a record stay open, unless the run has ended. */
export async function* sealRun(deps: SealDeps, runId: string, progress: RunProgress): AsyncGenerator<Sealable> {
  const { facts } = progress;
  for await (const events of readStored(deps.redis, runId, progress.read + 1)) {
    for (const stored of events) {
      if (stored.id !== `${progress.read + 1}-0`) {
        // A seal would hide the gap. Verification finds gaps among unsealed events.
        deps.logger.error(
          { run_id: runId, event: stored.id },
          'a log has a gap: its events after the gap are not sealed',
        );
        return;
      }
      progress.read = stored.seq;
      progress.open.add(stored);
      const event = eventFrom(runId, stored);
      progress.time = event?.time ?? progress.time;
      const body = event && describe(facts, event, (text) => deps.redact(text, facts.tenant));
      if (body === 'unreadable' || event === undefined) {
        yield sealable(progress, { kind: 'log', run_id: runId, unreadable: true });
      } else if (body !== undefined) yield sealable(progress, body);
    }
  }
  if (facts.hasEnded && progress.read > progress.sealed) yield sealable(progress, { kind: 'log', run_id: runId });
}

function sealable(progress: RunProgress, body: Sealable['body']): Sealable {
  const { facts, sealed, read, open, time } = progress;
  const run_id = 'run_id' in body ? body.run_id : '';
  const log: AuditLog = { run_id, from: sealed + 1, to: read, ...open.end() };
  progress.sealed = read;
  progress.open = new RangeDigest();
  return { body, time, tenant: facts.tenant, log };
}

function describe(facts: RunFacts, event: RunEvent, redact: Redact): Sealable['body'] | 'unreadable' | undefined {
  try {
    learn(facts, event);
    return bodyOfEvent(facts, event, redact);
  } catch {
    return 'unreadable';
  }
}

function tryTo(work: () => unknown): void {
  try {
    work();
  } catch {
    // An event written by another program: its record says `unreadable`.
  }
}

/** Undefined for a text of another program, which may be anything. */
function eventFrom(runId: string, { text, seq }: StoredEvent): RunEvent | undefined {
  if (text === undefined) return undefined;
  try {
    // No record has the id of an event.
    return recordedEvent(runId, seq, text.toString());
  } catch {
    return undefined;
  }
}
