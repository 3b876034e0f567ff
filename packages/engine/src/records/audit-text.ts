import { hash } from 'node:crypto';
import type { AuditText, Payload, Problem } from '@holdpoint/contract';

/** Makes secrets in a text unreadable. */
export type Redact = (text: string) => string;

/** The most characters of a text in a record. */
const mostCharacters = 4000;
const mostOfMessage = 1000;

/** A JSON value in a record. Redacted before the cut, so the cut leaves no half of a secret. */
export function textOfValue(value: unknown, redact: Redact): AuditText {
  const json = JSON.stringify(value ?? null);
  const text = redact(json);
  const isCut = text.length > mostCharacters;
  return {
    digest: `sha256:${hash('sha256', json)}`,
    bytes: Buffer.byteLength(json),
    text: text.slice(0, mostCharacters),
    ...(isCut && { cut: true as const }),
  };
}

/** The same for a value in the log: for a large value, the log has only the digest and the beginning. */
export function textOfPayload(payload: Payload, redact: Redact): AuditText {
  if ('json' in payload) return textOfValue(payload.json, redact);
  const { sha256: digest, bytes, preview } = payload;
  return { digest: `sha256:${digest}`, bytes, text: redact(preview), cut: true };
}

export const digestOfPayload = (payload: Payload): { digest: string; bytes: number } => {
  const { digest, bytes } = textOfPayload(payload, () => '');
  return { digest, bytes };
};

/** The digest of a message: a record has its beginning alone. */
export const digestOfText = (text: string): string => `sha256:${hash('sha256', text)}`;

export const shortText = (text: string, redact: Redact): string => {
  const redacted = redact(text);
  return redacted.length > mostOfMessage ? `${redacted.slice(0, mostOfMessage)}… (cut)` : redacted;
};

export const problemOf = (
  problem: Problem | undefined,
  redact: Redact,
): { code: string; message: string } | undefined =>
  problem && { code: problem.code, message: shortText(problem.message, redact) };
