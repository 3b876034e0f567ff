import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDurably } from '@holdpoint/engine';

/** Encrypts refresh tokens and device codes: Redis and clients keep them, and only this installation reads them. */
export interface Seal {
  seal(text: string, purpose: string): string;
  /** Undefined: made by another installation, for another purpose, or changed. */
  open(sealed: string, purpose: string): string | undefined;
}

/** Readable for this user alone, as the key file. Without the file people sign in again. */
const fileName = 'sign-in-key';

/** @throws SealKeyError when the file holds other text */
export async function openSeal(dataDir: string): Promise<Seal> {
  const file = join(dataDir, fileName);
  const found = await readKey(file);
  if (found !== undefined) return sealWith(found);
  await createDurably(file, `${randomBytes(32).toString('base64url')}\n`);
  // Processes with a simultaneous start agree on the key of the first.
  const made = await readKey(file);
  if (made === undefined) throw new SealKeyError(`${file} was removed while it was made`);
  return sealWith(made);
}

class SealKeyError extends Error {
  override readonly name = 'SealKeyError';
  readonly code = 'sign_in_key_unusable';
  readonly next = 'Remove the file to have a new key made. People then sign in again.';
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (text === undefined) return undefined;
  await chmod(file, 0o600);
  const key = Buffer.from(text.trim(), 'base64url');
  if (key.length !== 32) throw new SealKeyError(`${file} does not hold the key for sign-ins`);
  return key;
}

function sealWith(key: Buffer): Seal {
  return {
    seal(text, purpose) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < 28) return undefined;
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(purpose));
        decipher.setAuthTag(bytes.subarray(12, 28));
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}
