import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { errnoOf } from '../../errors.ts';
import type { SnapshotId } from '../../port/workspaces.ts';
import type { PackedObject } from '../objects/index.ts';

/** A snapshot and its added objects. */
export interface JournalRecord {
  readonly id: SnapshotId;
  readonly objects: readonly PackedObject[];
}

/** Objects are `[id, bytes, CRC]`, in the order of their bytes. */
const headSchema = z.strictObject({ id: z.string(), objects: z.array(z.tuple([z.string(), z.int(), z.int()])) });

/** `<CRC> <bytes of the head> <bytes of the body>`, a line feed, the head as JSON, and the objects as they lie in a pack. */
export function encodeRecord({ id, objects }: JournalRecord): Buffer {
  const rows = objects.map(({ oid, bytes, crc }) => [oid, bytes.length, crc]);
  const head = Buffer.from(JSON.stringify({ id, objects: rows }));
  const content = Buffer.concat([head, ...objects.map(({ bytes }) => bytes)]);
  return Buffer.concat([Buffer.from(`${crc32(content)} ${head.length} ${content.length - head.length}\n`), content]);
}

/** The records of a journal up to the first torn record. No writer acknowledged a torn record. None when the journal was removed. */
export function readRecords(path: string): JournalRecord[] {
  let rest: Buffer;
  try {
    rest = readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  const records: JournalRecord[] = [];
  while (rest.length > 0) {
    const end = rest.indexOf(0x0a);
    const numbers = /^(\d+) (\d+) (\d+)$/.exec(rest.toString('latin1', 0, Math.max(end, 0)));
    if (numbers === null) break;
    const [, crc, headBytes, bodyBytes] = numbers.map(Number) as [number, number, number, number];
    const content = rest.subarray(end + 1, end + 1 + headBytes + bodyBytes);
    if (content.length < headBytes + bodyBytes || crc32(content) !== crc) break;
    records.push(decode(content.subarray(0, headBytes), content.subarray(headBytes)));
    rest = rest.subarray(end + 1 + content.length);
  }
  return records;
}

function decode(head: Buffer, body: Buffer): JournalRecord {
  const { id, objects } = headSchema.parse(JSON.parse(head.toString('utf8')));
  let at = 0;
  return {
    id,
    objects: objects.map(([oid, length, crc]) => {
      at += length;
      return { oid, crc, bytes: body.subarray(at - length, at) };
    }),
  };
}
