import { createHash, type Hash, hash as hashOf } from 'node:crypto';
import type { AuditLog } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { logKey } from '../log/keys.ts';

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
