import type { ProviderLogout } from '@holdpoint/callers';
import { jwtVerify } from 'jose';
import { z } from 'zod';
import { ApiProblem } from '../errors/to-problem.ts';
import type { SignInSettings } from '../sign-in-settings.ts';
import type { Provider } from './provider.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';
/** Signatures of the provider alone: `none` and keys that the client knows are refused. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

const claimsSchema = z
  .looseObject({
    jti: z.string().min(1).max(500),
    sub: z.string().min(1).max(500).optional(),
    sid: z.string().min(1).max(500).optional(),
    events: z.looseObject({ [event]: z.looseObject({}) }),
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);

/** OpenID Connect Back-Channel Logout 1.0, 2.6. @throws ApiProblem `logout_refused`, `sign_in_unavailable` */
export async function readLogoutToken(
  { client_id, clock_skew_s }: SignInSettings,
  { issuer, keys }: Provider,
  token: string,
): Promise<ProviderLogout> {
  if (keys === undefined) throw refused('the identity provider publishes no keys');
  const { payload } = await jwtVerify(token, keys, {
    ...{ issuer, audience: client_id, algorithms, clockTolerance: clock_skew_s },
    ...{ maxTokenAge: 600, requiredClaims: ['iat', 'jti', 'events'] },
  }).catch((error: unknown) => {
    throw refused(error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read');
  });
  const claims = claimsSchema.safeParse(payload);
  if (!claims.success) throw refused('it is no request to log out');
  const { jti, sub: subject, sid } = claims.data;
  return { issuer, jti, subject, sid };
}

export const refused = (why: string): ApiProblem => new ApiProblem('logout_refused', `the token is refused: ${why}`);
