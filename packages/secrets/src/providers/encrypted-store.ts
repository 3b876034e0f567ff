import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { secretNameSchema } from '@holdpoint/contract';
import { syncPath, writeDurably } from '@holdpoint/process/durable-files';
import { z } from 'zod';
import { SecretError } from '../errors.ts';
import { checkValue, type SecretInfo, type SecretProvider } from '../port.ts';
import { readPrivateFile } from '../private-path.ts';
import { stampOf } from './files.ts';

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
type StoreEntry = z.infer<typeof entrySchema>;

type Facts = Pick<StoreEntry, 'tenant' | 'name' | 'version' | 'updated_at'>;

/** An entry with the value encrypted under a nonce of its own. The encryption authenticates every other field of the entry, too. */
function sealEntry(facts: Facts, value: string, { key, id }: StoreKey): StoreEntry {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(boundTo(facts));
  const sealed = Buffer.concat([sealing.update(value, 'utf8'), sealing.final(), sealing.getAuthTag()]);
  return { format: 1, ...facts, key: id, nonce: nonce.toString('base64'), sealed: sealed.toString('base64') };
}

/** @param file for messages. @throws SecretError `ESECRETSTORE` */
function parseEntry(text: string, file: string, expected: Pick<Facts, 'tenant' | 'name'>): StoreEntry {
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
function openEntry(entry: StoreEntry, file: string, { key, id }: StoreKey): string {
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

export interface EncryptedStore extends SecretProvider {
  /** When this returns, the value is on disk. @throws SecretError `ESECRETVALUE` */
  set(name: string, value: string, at: { tenant: string }): Promise<SecretInfo>;
  /** @returns undefined when there was none */
  remove(name: string, at: { tenant: string }): Promise<SecretInfo | undefined>;
}

const suffix = '.json';

/**
 * An encrypted file per secret below `folder`. Every entry is decrypted once at the start.
 * @param key undefined without a key. Then the folder must have no entry
 * @throws SecretError `ESECRETSTORE` for a wrong key and for a changed entry; `ESECRETSTOREOFF` for entries without a key
 */
export function encryptedStore(
  folder: string,
  key: StoreKey | undefined,
  now: () => number,
): EncryptedStore | undefined {
  const tenants = () => namesIn(folder);
  const namesOf = (tenant: string) => namesInStore(folder, tenant);
  const fileOf = (name: string, tenant: string) => join(folder, tenant, `${name}${suffix}`);
  const entryOf = (name: string, tenant: string): StoreEntry | undefined => {
    const file = fileOf(name, tenant);
    const text = readIfThere(file);
    return text === undefined ? undefined : parseEntry(text, file, { tenant, name });
  };
  if (key === undefined) {
    const [tenant] = tenants().filter((one) => namesOf(one).length > 0);
    if (tenant === undefined) return undefined;
    throw new SecretError('ESECRETSTOREOFF', `${join(folder, tenant)} has encrypted secrets, and no key is set.`, {
      next: 'Set HOLDPOINT_SECRETS_KEY_FILE to the file with the key, or HOLDPOINT_SECRETS_KEY to the key itself.',
    });
  }
  const resolve = (name: string, { tenant }: { tenant: string }): string | undefined => {
    const entry = entryOf(name, tenant);
    return entry && openEntry(entry, fileOf(name, tenant), key);
  };
  for (const tenant of tenants()) for (const name of namesOf(tenant)) resolve(name, { tenant });
  return {
    tenants,
    list: (tenant) =>
      namesOf(tenant).flatMap((name) => {
        const entry = entryOf(name, tenant);
        return entry === undefined ? [] : [toInfo(entry)];
      }),
    resolve,
    stamp: () =>
      tenants()
        .flatMap((tenant) => namesOf(tenant).map((name) => stampOf(fileOf(name, tenant))))
        .join('\n'),
    async set(name, value, { tenant }) {
      checkValue(value, `the secret ${name}`);
      const version = (entryOf(name, tenant)?.version ?? 0) + 1;
      const entry = sealEntry({ tenant, name, version, updated_at: new Date(now()).toISOString() }, value, key);
      mkdirSync(join(folder, tenant), { recursive: true, mode: 0o700 });
      await replaceFile(fileOf(name, tenant), JSON.stringify(entry));
      return toInfo(entry);
    },
    async remove(name, { tenant }) {
      const file = fileOf(name, tenant);
      const entry = entryOf(name, tenant);
      if (entry === undefined) return undefined;
      await rm(file, { force: true });
      await syncPath(dirname(file));
      return toInfo(entry);
    },
  };
}

/** The names of a tenant's entries. */
export const namesInStore = (folder: string, tenant: string): string[] =>
  namesIn(join(folder, tenant)).flatMap((file) => (file.endsWith(suffix) ? [file.slice(0, -suffix.length)] : []));

/** The tenants with an entry, by name. */
export const tenantsInStore = (folder: string): string[] =>
  namesIn(folder)
    .filter((tenant) => namesInStore(folder, tenant).length > 0)
    .sort();

const toInfo = ({ name, version, updated_at }: StoreEntry): SecretInfo => ({
  name,
  source: 'store',
  version,
  updated_at,
});

async function replaceFile(file: string, content: string): Promise<void> {
  await writeDurably(file, content);
  await syncPath(dirname(dirname(file)));
}

function readIfThere(file: string): string | undefined {
  return unlessMissing(() => readFileSync(file, 'utf8'));
}

const namesIn = (folder: string): string[] => unlessMissing(() => readdirSync(folder)) ?? [];

/** The store in front of its first secret has no folder. A file is removed between two system calls when its secret is. */
function unlessMissing<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
