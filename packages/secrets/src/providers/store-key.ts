import { createHash, hkdfSync } from 'node:crypto';
import { SecretError } from '../errors.ts';
import { readPrivateFile } from '../private-path.ts';

export interface StoreKey {
  key: Buffer;
  /** Identifies the key of an entry without revealing the key. */
  id: string;
}

const keyBytes = 32;

/** The place of the encrypted store's key: a file of the mode 0600, or a text. */
export type KeySource = { file: string } | { text: string };

/** @throws SecretError `ESECRETACCESS` or `ESECRETSTORE` naming the defect of the key */
export function readStoreKey(source: KeySource): StoreKey {
  const where = 'file' in source ? source.file : 'HOLDPOINT_SECRETS_KEY';
  const secret = decodeKey('file' in source ? readKeyFile(source.file) : source.text, where);
  return {
    key: derive(secret, 'entries'),
    id: createHash('sha256').update(derive(secret, 'id')).digest('hex').slice(0, 16),
  };
}

function readKeyFile(file: string): string {
  try {
    return readPrivateFile(file).content.toString('latin1');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    const message = `The key of the secret store, ${file}, does not exist.`;
    const next = `Restore it, or make a new one: umask 077; openssl rand -base64 ${keyBytes} > ${file}`;
    throw new SecretError('ESECRETACCESS', message, { next, cause });
  }
}

function decodeKey(text: string, where: string): Buffer {
  const plain = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(plain) ? Buffer.from(plain, 'hex') : Buffer.from(plain, 'base64');
  if (key.length === keyBytes && /^[A-Za-z0-9+/_-]+=*$/.test(plain)) return key;
  const message = `The key of the secret store in ${where} is not ${keyBytes} bytes in base64 or hex.`;
  const next = `Give the right key. A new one: openssl rand -base64 ${keyBytes}`;
  throw new SecretError('ESECRETSTORE', message, { next });
}

const derive = (secret: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `holdpoint secret store ${purpose}`, keyBytes));
