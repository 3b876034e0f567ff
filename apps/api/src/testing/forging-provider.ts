import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';

/** An identity provider that signs whatever a test wants: of hostile and broken providers, and of those who forge its tokens. */
export interface ForgingProvider {
  issuer: string;
  /** The ID token of the next answers. */
  idToken: (claims: JWTPayload) => Promise<string> | string;
  sign(claims: JWTPayload, more?: { typ?: string; with?: 'another key' | 'the client secret' }): Promise<string>;
  none(claims: JWTPayload): string;
  /** Claims of an ID token that is right, but for those given. */
  claims(more?: JWTPayload): JWTPayload;
  /** What the browser is sent back with, for the address that the sign-in began with. */
  answerTo(place: string): URL;
  stop(): void;
}

export async function startForgingProvider(clientSecret: string): Promise<ForgingProvider> {
  const [own, foreign] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let nonce: string | undefined;
  const provider: ForgingProvider = {
    issuer,
    idToken: (claims) => provider.sign(claims),
    sign(claims, { typ, with: key } = {}) {
      const header = key === 'the client secret' ? { alg: 'HS256' } : { alg: 'RS256', kid: 'own' };
      const signed = new SignJWT(claims).setProtectedHeader({ ...header, ...(typ && { typ }) });
      if (key === 'the client secret') return signed.sign(new TextEncoder().encode(clientSecret));
      return signed.sign(key === 'another key' ? foreign.privateKey : own.privateKey);
    },
    none: (claims) => new UnsecuredJWT(claims).encode(),
    claims(more = {}) {
      const now = Math.floor(Date.now() / 1000);
      const all = {
        iss: issuer,
        aud: 'holdpoint',
        sub: 'ann',
        iat: now,
        exp: now + 300,
        nonce,
        email: 'ann@example.com',
        groups: ['engineers'],
        ...more,
      };
      return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    },
    answerTo(place) {
      const asked = new URL(place).searchParams;
      nonce = asked.get('nonce') ?? undefined;
      const answer = new URL(asked.get('redirect_uri') ?? '');
      answer.search = `${new URLSearchParams({ code: 'code', state: asked.get('state') ?? '', iss: issuer })}`;
      return answer;
    },
    stop: () => void server.close(),
  };
  server.on('request', async (request, response) => {
    const say = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === '/jwks') return say({ keys: [jwk] });
    if (request.url === '/token') {
      return say({
        access_token: 'an access token',
        token_type: 'Bearer',
        id_token: await provider.idToken(provider.claims()),
      });
    }
    return say({
      ...{
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
      },
      ...{
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      },
      ...{ code_challenge_methods_supported: ['S256'], authorization_response_iss_parameter_supported: true },
    });
  });
  return provider;
}
