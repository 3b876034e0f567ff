/** What a browser answers to `navigator.credentials.create`. */
interface Registration {
  id: string;
  type: 'public-key';
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] | undefined };
}

/** A passkey that a browser has made, and that was verified. */
interface NewPasskey {
  credential_id: string;
  public_key: string;
  counter: number;
  transports: string[];
}

/** EdDSA, ES256 and RS256: every authenticator has one of them. */
export const passkeyAlgorithms = [-8, -7, -257];

/** @returns the passkey, or why it cannot be used */
export async function checkRegistration(
  { id, type, response: { transports = [], ...response } }: Registration,
  { challenge, origin, rpId }: { challenge: string; origin: string; rpId: string },
): Promise<NewPasskey | { refused: string }> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { id, rawId: id, type, response, clientExtensionResults: {} },
      ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: rpId },
      ...{ requireUserVerification: true, supportedAlgorithmIDs: passkeyAlgorithms },
    });
    if (registrationInfo === undefined) return { refused: 'its attestation cannot be verified' };
    const { id: credential_id, publicKey, counter } = registrationInfo.credential;
    const public_key = Buffer.from(publicKey).toString('base64url');
    return { credential_id, public_key, counter, transports };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}
