import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Standard Webhooks 1.0. */
export type SignatureKind = 'v1' | 'v1a';

export interface NewSecret {
  /** `whsec_…` for v1, `whsk_…` for v1a. */
  secret: string;
  /** `whpk_…` for v1a. */
  publicKey: string | undefined;
}

export function makeSecret(kind: SignatureKind): NewSecret {
  if (kind === 'v1') return { secret: `whsec_${randomBytes(32).toString('base64')}`, publicKey: undefined };
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  return {
    secret: `whsk_${Buffer.concat([seed, point]).toString('base64')}`,
    publicKey: `whpk_${point.toString('base64')}`,
  };
}

export interface Message {
  id: string;
  /** Seconds since the epoch: when this try began. */
  timestamp: number;
  body: string;
}

/** @param secrets each signs: after a rotation the previous one, too */
export function signedHeaders(message: Message, secrets: readonly string[]): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': secrets.map((secret) => signWith(secret, message)).join(' '),
  };
}

function signWith(secret: string, { id, timestamp, body }: Message): string {
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');
  if (secret.startsWith('whsec_')) return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  const [d, x] = [key.subarray(0, 32).toString('base64url'), key.subarray(32).toString('base64url')];
  const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  return `v1a,${sign(null, content, privateKey).toString('base64')}`;
}
