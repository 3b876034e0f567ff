import { createHash, hash as hashOf } from 'node:crypto';
import { type AuditBody, type AuditHead, type AuditLog, auditVersion } from '@holdpoint/contract';

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
