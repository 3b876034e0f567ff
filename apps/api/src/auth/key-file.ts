import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeyText, hasKeyForm } from '@holdpoint/callers';
import { createDurably } from '@holdpoint/engine';
import { makeDataDirectory } from '@holdpoint/engine/installation';

export const keyFileName = 'api-key';

/**
 * The first key of a data directory, created at the first start in a file readable for this user alone. Processes with a simultaneous start agree
 * on the same key. Redis holds its record, with a digest in place of the text.
 * @throws KeyFileError when the file holds other text
 */
export async function openKeyFile(dataDir: string): Promise<string> {
  makeDataDirectory(dataDir);
  const file = join(dataDir, keyFileName);
  return (await readKey(file)) ?? createKey(file);
}

export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
  readonly code = 'api_key_unusable';
  readonly next = 'Remove the file to have a new key made at the next start.';
}

async function readKey(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(unlessMissing);
  if (text === undefined) return undefined;
  await chmod(file, 0o600);
  const key = text.trim();
  if (!hasKeyForm(key)) throw new KeyFileError(`${file} does not hold an API key`);
  return key;
}

async function createKey(file: string): Promise<string> {
  await createDurably(file, `${createKeyText()}\n`);
  const key = await readKey(file);
  if (key === undefined) throw new KeyFileError(`${file} was removed while it was made`);
  return key;
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
