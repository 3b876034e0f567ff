import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { secretNameSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { SecretError } from '../errors.ts';
import type { StoreKey } from './store-key.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

const entrySchema = z.strictObject({
  format: z.literal(1),
  tenant: z.string(),
  name: secretNameSchema,
  version: z.int().min(1),
  updated_at: z.iso.datetime(),
  key: z.string(),
  nonce: z.base64(),
  sealed: z.base64().describe('The encrypted value and its tag'),
});
export type StoreEntry = z.infer<typeof entrySchema>;

type Facts = Pick<StoreEntry, 'tenant' | 'name' | 'version' | 'updated_at'>;

/** An entry with the value encrypted under a nonce of its own. The encryption authenticates every other field of the entry, too. */
export function sealEntry(facts: Facts, value: string, { key, id }: StoreKey): StoreEntry {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(boundTo(facts));
  const sealed = Buffer.concat([sealing.update(value, 'utf8'), sealing.final(), sealing.getAuthTag()]);
  return { format: 1, ...facts, key: id, nonce: nonce.toString('base64'), sealed: sealed.toString('base64') };
}

/** @param file for messages. @throws SecretError `ESECRETSTORE` */
export function parseEntry(text: string, file: string, expected: Pick<Facts, 'tenant' | 'name'>): StoreEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken(file, 'is cut or was changed');
  }
  const parsed = entrySchema.safeParse(value);
  if (!parsed.success) throw broken(file, 'is no entry of the secret store');
  const { tenant, name } = parsed.data;
  if (tenant !== expected.tenant || name !== expected.name) throw broken(file, 'is the entry of another secret');
  return parsed.data;
}

/** @throws SecretError `ESECRETSTORE` */
export function openEntry(entry: StoreEntry, file: string, { key, id }: StoreKey): string {
  if (entry.key !== id) throw broken(file, 'was encrypted with another key', wrongKey);
  const sealed = Buffer.from(entry.sealed, 'base64');
  const nonce = Buffer.from(entry.nonce, 'base64');
  if (nonce.length !== nonceBytes || sealed.length < tagBytes) throw broken(file, 'is cut or was changed');
  const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(boundTo(entry));
  opening.setAuthTag(sealed.subarray(-tagBytes));
  try {
    return opening.update(sealed.subarray(0, -tagBytes), undefined, 'utf8') + opening.final('utf8');
  } catch {
    throw broken(file, 'is cut or was changed');
  }
}

const boundTo = ({ tenant, name, version, updated_at }: Facts): Buffer =>
  Buffer.from(JSON.stringify(['holdpoint secret', 1, tenant, name, version, updated_at]));

const wrongKey = 'Start with the key that it was encrypted with, or remove the file and set the secret again.';

function broken(file: string, problem: string, next?: string): SecretError {
  return new SecretError('ESECRETSTORE', `${file} ${problem}.`, {
    next: next ?? 'Restore it from a backup, or remove the file and set the secret again.',
  });
}
