import { CallerError, type Callers, type Device, type Identity, type ProviderLogout } from '@holdpoint/callers';
import type { Tenant } from '@holdpoint/contract';
import type { Secrets } from '@holdpoint/secrets';
import type { FastifyBaseLogger } from 'fastify';
import { jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { z } from 'zod';
import { ApiProblem } from '../errors/to-problem.ts';
import type { SignInSettings } from '../sign-in-settings.ts';
import { type Attempt, attemptMs, nonceOf, readState, stateOf, verifierOf } from './attempt.ts';
import { identify, type Tokens } from './identify.ts';
import { isAway, openProvider, type Provider, refusalOf, unavailable } from './provider.ts';
import type { Seal } from './seal.ts';

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
async function readLogoutToken(
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

const refused = (why: string): ApiProblem => new ApiProblem('logout_refused', `the token is refused: ${why}`);

interface Deps {
  settings: SignInSettings;
  callers: Pick<Callers, 'signIns'>;
  secrets: Secrets;
  seal: Seal;
  logger: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  now: () => number;
}

/** Sign-ins of persons with the operator's identity provider. */
export function openSignIn(deps: Deps) {
  const { settings, callers, seal, now } = deps;
  const provider = openProvider(settings, deps);
  const redirectUri = new URL('/v1/sign-in/callback', settings.url).href;
  const confirmationOf = (tokens: Tokens, subject: string) => ({
    sealed: tokens.refresh_token === undefined ? undefined : seal.seal(tokens.refresh_token, `refresh ${subject}`),
    everyMs: settings.refresh_s * 1000,
    holdMs: settings.hold_s * 1000,
  });
  const open = async (found: Provider, device: Device, asked: { tokens: Tokens; tenant?: Tenant | undefined }) => {
    const { sid, ...identity } = await identify(settings, found, asked);
    const confirmation = confirmationOf(asked.tokens, identity.subject);
    return { identity, ...(await callers.signIns.open(identity, { ...confirmation, device, sid })) };
  };
  return {
    settings,
    seal,
    provider,
    confirmationOf,
    /** The provider as it answers now, for the operator. */
    async describe() {
      const { issuer, url } = settings;
      const found = await provider().then(({ config }) => config.serverMetadata(), toText);
      if (typeof found === 'string')
        return { issuer, url, problem: found, device_flow: false, back_channel_logout: false };
      return {
        ...{ issuer, url, problem: found.supportsPKCE() ? null : 'it does not name PKCE with S256' },
        device_flow: found.device_authorization_endpoint !== undefined,
        back_channel_logout: found.backchannel_logout_supported === true,
      };
    },
    /** Where a browser signs in. @throws ApiProblem `sign_in_unavailable` */
    async begin(secret: string, attempt: Omit<Attempt, 'id' | 'at'>): Promise<URL> {
      const { config } = await provider();
      const state = stateOf(secret, { ...attempt, at: now() });
      return oidc.buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirectUri, scope: settings.scopes, state, nonce: nonceOf(secret, state) },
        code_challenge: await oidc.calculatePKCECodeChallenge(verifierOf(secret, state)),
        code_challenge_method: 'S256',
      });
    },
    /** Completes it with what the provider sent the browser back with. @throws ApiProblem, CallerError */
    async complete(secret: string | undefined, query: string) {
      const state = new URLSearchParams(query).get('state') ?? '';
      const attempt = secret === undefined ? undefined : readState(secret, state, now());
      if (secret === undefined || attempt === undefined) {
        throw new ApiProblem(
          'sign_in_failed',
          'this sign-in was begun in another browser, or more than ten minutes ago',
        );
      }
      if (!(await callers.signIns.takeOnce(['attempt', attempt.id], 2 * attemptMs))) {
        throw new ApiProblem('sign_in_failed', 'this answer of the identity provider was used before');
      }
      const found = await provider();
      const tokens = await oidc
        .authorizationCodeGrant(found.config, new URL(`${redirectUri}?${query}`), {
          ...{ pkceCodeVerifier: verifierOf(secret, state), idTokenExpected: true },
          ...{ expectedState: state, expectedNonce: nonceOf(secret, state) },
        })
        .catch(toProblem);
      const asked = { tokens, tenant: attempt.tenant };
      return { attempt, ...(await open(found, 'browser', asked).catch(toProblem)) };
    },
    /** Begins the sign-in of a command. @throws ApiProblem `device_flow_missing`, `sign_in_unavailable` */
    async beginDevice() {
      const { config } = await provider();
      if (config.serverMetadata().device_authorization_endpoint === undefined) throw withoutDevices();
      const asked = await oidc
        .initiateDeviceAuthorization(config, { scope: settings.scopes })
        .catch((error: unknown) => {
          if (/^(unauthorized_client|unsupported_grant_type|invalid_client)$/.test(refusalOf(error) ?? ''))
            throw withoutDevices();
          return toProblem(error);
        });
      const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval = 5 } = asked;
      const device = seal.seal(device_code, 'device');
      return { device, user_code, verification_uri, verification_uri_complete, expires_in, interval };
    },
    /** @returns undefined while the person has not signed in @throws ApiProblem, CallerError */
    async pollDevice(device: string, tenant?: Tenant) {
      const device_code = seal.open(device, 'device');
      if (device_code === undefined) throw new ApiProblem('sign_in_failed', 'this is no sign-in that began here');
      const found = await provider();
      const grant = 'urn:ietf:params:oauth:grant-type:device_code';
      const tokens = await oidc.genericGrantRequest(found.config, grant, { device_code }).catch((error: unknown) => {
        if (/^(authorization_pending|slow_down)$/.test(refusalOf(error) ?? '')) return undefined;
        return toProblem(error);
      });
      if (tokens === undefined) return undefined;
      if (tokens.claims() === undefined)
        throw new ApiProblem('sign_in_failed', 'the identity provider gave no ID token');
      return open(found, 'command', { tokens, tenant }).catch(toProblem);
    },
    /** Ends the sessions that the provider has ended. @throws ApiProblem `logout_refused` */
    async logOut(token: string) {
      const ended = await callers.signIns.endByProvider(await readLogoutToken(settings, await provider(), token));
      if (ended === undefined) throw refused('it was sent before');
      return ended;
    },
    /** @throws ApiProblem `sign_in_unavailable`; CallerError or ApiProblem when the provider confirms the person no longer */
    async refresh(
      token: string,
      who: { subject: string; tenant: Tenant },
    ): Promise<{ tokens: Tokens; identity: Identity }> {
      const found = await provider();
      const tokens = await oidc.refreshTokenGrant(found.config, token).catch(toProblem);
      const asked = { tokens, tenant: who.tenant, expected: who.subject };
      return { tokens, identity: await identify(settings, found, asked).catch(toProblem) };
    },
  };
}
export type SignIn = ReturnType<typeof openSignIn>;

const toText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const withoutDevices = (): ApiProblem =>
  new ApiProblem('device_flow_missing', 'the identity provider offers this client no device flow');

function toProblem(error: unknown): never {
  if (error instanceof ApiProblem || error instanceof CallerError) throw error;
  if (isAway(error)) throw unavailable(error);
  const said = refusalOf(error);
  if (said !== undefined)
    throw new ApiProblem('sign_in_failed', `the identity provider refuses: ${said.slice(0, 100)}`);
  if (error instanceof oidc.ClientError)
    throw new ApiProblem('sign_in_failed', `its answer is refused: ${error.message}`);
  throw error;
}
