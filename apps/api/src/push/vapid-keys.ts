import { createECDH } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDurably } from '@holdpoint/engine';

/** RFC 8292: the keys that name this installation to push services. Subscriptions of browsers are bound to the public key. */
export interface VapidKeys {
  /** base64url of the uncompressed point, as browsers take it. */
  publicKey: string;
  privateKey: string;
}

/** Readable for this user alone, as the key file: the private key lets others send pushes to the subscribed browsers. */
const fileName = 'push-key';

/** @throws PushKeyError when the file holds other text */
export async function openVapidKeys(dataDir: string): Promise<VapidKeys> {
  const file = join(dataDir, fileName);
  const found = await readKeys(file);
  if (found !== undefined) return found;
  await createDurably(file, `${createECDHKey()}\n`);
  // Processes with a simultaneous start agree on the keys of the first.
  const made = await readKeys(file);
  if (made === undefined) throw new PushKeyError(`${file} was removed while it was made`);
  return made;
}

class PushKeyError extends Error {
  override readonly name = 'PushKeyError';
  readonly code = 'push_key_unusable';
  readonly next = 'Remove the file to have new keys made. Browsers then have to subscribe again.';
}

function createECDHKey(): string {
  const curve = createECDH('prime256v1');
  curve.generateKeys();
  return curve.getPrivateKey('base64url');
}

async function readKeys(file: string): Promise<VapidKeys | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (text === undefined) return undefined;
  await chmod(file, 0o600);
  const curve = createECDH('prime256v1');
  try {
    curve.setPrivateKey(text.trim(), 'base64url');
  } catch (cause) {
    throw new PushKeyError(`${file} does not hold the key for pushes`, { cause });
  }
  // A private key with leading zeros is shorter than its field.
  const privateKey = Buffer.concat([Buffer.alloc(32), curve.getPrivateKey()])
    .subarray(-32)
    .toString('base64url');
  return { publicKey: curve.getPublicKey('base64url'), privateKey };
}
