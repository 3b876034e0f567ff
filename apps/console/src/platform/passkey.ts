import type { AddPasskey, AssertionOptions, AssertionResponse, RegistrationOptions } from '@holdpoint/contract/wire';

/** Undefined: this page has passkeys. */
export const whyNoPasskeys = (): string | undefined => {
  if (!globalThis.isSecureContext) return 'Browsers give passkeys to pages of https, and to localhost alone.';
  if (/^\[|^[\d.]+$/.test(location.hostname))
    return `A passkey is made for a name, and ${location.hostname} is an address: open the page at localhost.`;
  return 'PublicKeyCredential' in globalThis ? undefined : 'This browser has no passkeys.';
};

/** The person closed the question of the browser, or has no such passkey: browsers do not tell. */
export class PasskeyRefused extends Error {
  override readonly name = 'PasskeyRefused';
  readonly detail: string;
  readonly next = 'Nothing was sent. Try again, and confirm with a passkey of yours.';
  constructor(cause: unknown) {
    const why = whyNoPasskeys() ?? (cause instanceof Error ? cause.message : String(cause));
    super(why, { cause });
    this.detail = `No passkey signed it: ${why}`;
  }
}

/** Has a passkey sign a challenge. @throws PasskeyRefused */
export async function signWithPasskey(options: AssertionOptions, signal?: AbortSignal): Promise<AssertionResponse> {
  const credential = await asked(() => navigator.credentials.get({ publicKey: requestFrom(options), signal }));
  const { clientDataJSON, authenticatorData, signature } = credential.response as AuthenticatorAssertionResponse;
  return {
    ...{ id: credential.id, type: 'public-key' },
    response: {
      clientDataJSON: textOf(clientDataJSON),
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
    },
  };
}

/** Makes a passkey. @throws PasskeyRefused */
export async function makePasskey(options: RegistrationOptions['registration']): Promise<AddPasskey['registration']> {
  const credential = await asked(() => navigator.credentials.create({ publicKey: creationFrom(options) }));
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    ...{ id: credential.id, type: 'public-key' },
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

async function asked(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await ask();
    if (credential === null) throw new Error('the browser gave none');
    return credential as PublicKeyCredential;
  } catch (cause) {
    throw new PasskeyRefused(cause);
  }
}

/** Chromium before 129 and Safari before 18.4 do not read the JSON themselves. */
const requestFrom = ({
  challenge,
  allowCredentials,
  ...rest
}: AssertionOptions): PublicKeyCredentialRequestOptions => ({
  ...rest,
  challenge: bytesOf(challenge),
  allowCredentials: allowCredentials.map(known),
});

const creationFrom = ({
  challenge,
  user,
  excludeCredentials,
  ...rest
}: RegistrationOptions['registration']): PublicKeyCredentialCreationOptions => ({
  ...rest,
  challenge: bytesOf(challenge),
  user: { ...user, id: bytesOf(user.id) },
  excludeCredentials: excludeCredentials.map(known),
});

const known = ({
  id,
  type,
  transports,
}: AssertionOptions['allowCredentials'][number]): PublicKeyCredentialDescriptor => ({
  ...{ id: bytesOf(id), type },
  transports: transports as AuthenticatorTransport[],
});

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));

const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
