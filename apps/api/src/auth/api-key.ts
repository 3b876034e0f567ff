import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDurably } from '@holdpoint/engine';

/** Whether this is the key. Takes the same time for every key. */
export type KeyCheck = (presented: string) => boolean;

export const keyFileName = 'api-key';

/**
 * The key of a data directory, created at the first start: `hp_` and 32 random bytes in base64url, in a file that only this user can read.
 * Processes that start at the same time agree on one key. Memory holds only its hash.
 * @throws ApiKeyError when the file holds other text
 */
export async function openApiKey(dataDir: string): Promise<KeyCheck> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, keyFileName);
  const hash = digest((await readKey(file)) ?? (await createKey(file)));
  return (presented) => timingSafeEqual(digest(presented), hash);
}

export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
  readonly code = 'api_key_unusable';
  readonly next = 'Remove the file to have a new key made at the next start.';
}

const form = /^hp_[A-Za-z0-9_-]{43}$/;

async function readKey(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(unlessMissing);
  if (text === undefined) return undefined;
  await chmod(file, 0o600);
  const key = text.trim();
  if (!form.test(key)) throw new ApiKeyError(`${file} does not hold an API key`);
  return key;
}

async function createKey(file: string): Promise<string> {
  await createDurably(file, `hp_${randomBytes(32).toString('base64url')}\n`);
  const key = await readKey(file);
  if (key === undefined) throw new ApiKeyError(`${file} was removed while it was made`);
  return key;
}

const digest = (key: string): Buffer => createHash('sha256').update(key).digest();

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
