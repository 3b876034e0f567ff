import type { PasskeyAssertion } from '@holdpoint/contract';

/** @returns why the assertion proves nothing; undefined: a person signed this challenge with this passkey, and was verified by it */
export async function whyUnproven(assertion: PasskeyAssertion, challenge: string): Promise<string | undefined> {
  const { credential_id: id, public_key, rp_id, origin } = assertion;
  const loose = binary.find((field) => !isCanonical(assertion[field]));
  if (loose !== undefined) return `${loose} is not canonical base64url`;
  // A lazy import: the library costs 30 ms, and only decisions with a passkey need it.
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  try {
    if ((await isEs256(public_key)) && !isDer(Buffer.from(assertion.signature, 'base64url')))
      return 'signature is not DER';
    if (isCrossOrigin(assertion.client_data_json)) return 'a page of another origin embedded the page that asked';
    const { verified } = await verifyAuthenticationResponse({
      response: responseOf(assertion),
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rp_id,
      requireUserVerification: true,
      // The store of passkeys compares the counter, because two processes can verify at once.
      credential: { id, publicKey: new Uint8Array(Buffer.from(public_key, 'base64url')), counter: 0 },
    });
    return verified ? undefined : 'the signature is not of this passkey and this challenge';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function isEs256(publicKey: string): Promise<boolean> {
  const { cose, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  const key = decodeCredentialPublicKey(new Uint8Array(Buffer.from(publicKey, 'base64url')));
  return key.get(cose.COSEKEYS.alg) === cose.COSEALG.ES256;
}

/** The library accepts wrong lengths: another spelling of a signature would count as the same. Two positive numbers, each as short as can be. */
function isDer(signature: Buffer): boolean {
  if (signature[0] !== 0x30 || signature[1] !== signature.byteLength - 2) return false;
  const second = afterNumber(signature, 2);
  return second !== undefined && afterNumber(signature, second) === signature.byteLength;
}

function afterNumber(bytes: Buffer, at: number): number | undefined {
  const [tag, length = 0, first = 0, next = 0] = bytes.subarray(at);
  const isShort = first < 0x80 && !(first === 0 && next < 0x80);
  return tag === 0x02 && length > 0 && length < 34 && isShort ? at + 2 + length : undefined;
}

/** The signature counter that the authenticator counted. Authenticators without one always say 0. */
export const counterOf = ({ authenticator_data }: Pick<PasskeyAssertion, 'authenticator_data'>): number => {
  const data = Buffer.from(authenticator_data, 'base64url');
  return data.byteLength < counterAt + 4 ? 0 : data.readUInt32BE(counterAt);
};

/** After 32 bytes of the hash of the name, and a byte of flags. */
const counterAt = 33;

const binary = [
  ...(['nonce', 'credential_id', 'public_key', 'authenticator_data', 'client_data_json', 'signature'] as const),
];

const isCanonical = (text: string): boolean => Buffer.from(text, 'base64url').toString('base64url') === text;

const isCrossOrigin = (clientData: string): boolean =>
  (JSON.parse(Buffer.from(clientData, 'base64url').toString()) as { crossOrigin?: unknown }).crossOrigin === true;

const responseOf = ({ credential_id, client_data_json, authenticator_data, signature }: PasskeyAssertion) => ({
  ...{ id: credential_id, rawId: credential_id, type: 'public-key' as const, clientExtensionResults: {} },
  response: { clientDataJSON: client_data_json, authenticatorData: authenticator_data, signature },
});
