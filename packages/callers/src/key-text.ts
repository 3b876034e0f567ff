import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The text of a new key: `hp_`, a secret of 256 random bits, and a checksum, in base64url. The prefix lets scanners find a leaked key, and
 * the checksum separates a mistyped key from an unknown key.
 */
export function createKeyText(): string {
  const secret = randomBytes(32).toString('base64url');
  return `hp_${secret}${checksumOf(secret)}`;
}

/** Keys of the first versions have no checksum. */
const form = /^hp_([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})?$/;

/** False for a text no server ever made: cut, changed in a character, or not a key. */
export function hasKeyForm(text: string): boolean {
  const [, secret, checksum] = form.exec(text) ?? [];
  return secret !== undefined && (checksum === undefined || checksum === checksumOf(secret));
}

function checksumOf(secret: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(secret));
  return bytes.toString('base64url');
}

/**
 * Stored in place of a key. A fast hash is enough: 256 random bits cannot be guessed, so a slow hash would protect nothing and cost every
 * request.
 */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
