import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

interface Site {
  rpId: string;
  origin: string;
}

interface Signing extends Partial<Site> {
  counter?: number;
  /** Flags of the authenticator data. @default user present and verified */
  flags?: number;
  clientData?: object;
}

const userPresent = 0x01;
const userVerified = 0x04;
const withCredential = 0x40;

/** An authenticator in software, with one ES256 passkey. */
export function createTestPasskey({ rpId, origin }: Site) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credential = randomBytes(32);
  const cose = mapOf([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ]);
  let counted = 0;
  const dataOf = (of: Signing, attested = Buffer.alloc(0)): Buffer => {
    const count = Buffer.alloc(4);
    counted += 1;
    count.writeUInt32BE(of.counter ?? counted);
    const flags = (of.flags ?? userPresent | userVerified) | (attested.byteLength > 0 ? withCredential : 0);
    const site = createHash('sha256')
      .update(of.rpId ?? rpId)
      .digest();
    return Buffer.concat([site, Buffer.from([flags]), count, attested]);
  };
  const clientOf = (type: string, challenge: string, of: Signing): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin: of.origin ?? origin, crossOrigin: false, ...of.clientData }));
  const id = credential.toString('base64url');
  return {
    id,
    publicKey: cose.toString('base64url'),
    /** As `navigator.credentials.create` answers. */
    register(challenge: string, of: Signing = {}) {
      const length = Buffer.from([0, credential.byteLength]);
      const data = dataOf(of, Buffer.concat([Buffer.alloc(16), length, credential, cose]));
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        ...[textOf('fmt'), textOf('none'), textOf('attStmt'), Buffer.from([0xa0]), textOf('authData'), bytesOf(data)],
      ]);
      return {
        ...{ id, type: 'public-key' as const },
        response: {
          clientDataJSON: clientOf('webauthn.create', challenge, of).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    /** As `navigator.credentials.get` answers. */
    sign(challenge: string, of: Signing = {}) {
      const data = dataOf(of);
      const client = clientOf('webauthn.get', challenge, of);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return {
        ...{ id, type: 'public-key' as const },
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
        },
      };
    },
  };
}
export type TestPasskey = ReturnType<typeof createTestPasskey>;

/** CBOR, as far as a passkey needs it. */
const headOf = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
};
const numberOf = (value: number): Buffer => (value < 0 ? headOf(1, -1 - value) : headOf(0, value));
const bytesOf = (value: Buffer): Buffer => Buffer.concat([headOf(2, value.byteLength), value]);
const textOf = (value: string): Buffer => Buffer.concat([headOf(3, value.length), Buffer.from(value)]);
const mapOf = (entries: [number, number | Buffer][]): Buffer =>
  Buffer.concat([
    headOf(5, entries.length),
    ...entries.flatMap(([key, value]) => [numberOf(key), typeof value === 'number' ? numberOf(value) : bytesOf(value)]),
  ]);
