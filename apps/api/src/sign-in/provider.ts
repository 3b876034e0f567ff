import type { Secrets } from '@holdpoint/secrets';
import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import * as oidc from 'openid-client';
import { ApiProblem } from '../errors/to-problem.ts';
import { readClientSecret, type SignInSettings } from '../sign-in-settings.ts';

/** The provider as its metadata describe it. */
export interface Provider {
  config: oidc.Configuration;
  issuer: string;
  /** Its keys, for requests to log out. */
  keys: JWTVerifyGetKey | undefined;
}

/** A request to the provider may take so long. */
const timeoutS = 8;
/** Metadata and the client's secret are read again after it. */
const keptMs = 600_000;

/**
 * The provider, found when it is needed: an API process starts without it. Failures are not kept.
 * @throws ApiProblem `sign_in_unavailable`
 */
export function openProvider(settings: SignInSettings, { secrets, now }: { secrets: Secrets; now: () => number }) {
  let found: { provider: Promise<Provider>; until: number } | undefined;
  return (): Promise<Provider> => {
    if (found !== undefined && found.until > now()) return found.provider;
    const provider = discover(settings, secrets);
    const own = { provider, until: now() + keptMs };
    found = own;
    provider.catch(() => {
      if (found === own) found = undefined;
    });
    return provider;
  };
}

async function discover(settings: SignInSettings, secrets: Secrets): Promise<Provider> {
  const { issuer, client_id, client_auth, clock_skew_s } = settings;
  const secret = readClientSecret(settings, secrets);
  const auth = client_auth === 'basic' ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
  const isLocal = new URL(issuer).protocol === 'http:';
  const config = await oidc
    .discovery(
      new URL(issuer),
      client_id,
      { [oidc.clockTolerance]: clock_skew_s },
      secret === undefined ? oidc.None() : auth(secret),
      {
        timeout: timeoutS,
        // The signature of an ID token is checked, too, although it comes from the provider itself.
        execute: [oidc.enableNonRepudiationChecks, ...(isLocal ? [oidc.allowInsecureRequests] : [])],
      },
    )
    .catch((error: unknown) => {
      throw unavailable(error);
    });
  const metadata = config.serverMetadata();
  // A provider of many organisations would answer for one that it does not name.
  if (new URL(metadata.issuer).href !== new URL(issuer).href)
    throw unavailable(new Error(`it names the issuer ${metadata.issuer}`));
  const keys =
    metadata.jwks_uri === undefined
      ? undefined
      : createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: timeoutS * 1000 });
  return { config, issuer: metadata.issuer, keys };
}

/** What the provider says with a refusal, without texts of its own that a page could show. */
export function refusalOf(error: unknown): string | undefined {
  if (error instanceof oidc.ResponseBodyError && error.status < 500 && error.status !== 429) return error.error;
  if (error instanceof oidc.AuthorizationResponseError) return error.error;
  return undefined;
}

/** Whether the provider did not answer, or answered with a failure of its own. */
export function isAway(error: unknown): boolean {
  if (error instanceof ApiProblem) return error.code === 'sign_in_unavailable';
  if (error instanceof oidc.ResponseBodyError) return error.status >= 500 || error.status === 429;
  if (error instanceof oidc.AuthorizationResponseError)
    return /^(temporarily_unavailable|server_error)$/.test(error.error);
  if (error instanceof TypeError) return true;
  if (!(error instanceof oidc.ClientError)) return false;
  return error.code === undefined || awayCodes.has(error.code);
}

const awayCodes = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

export const unavailable = (cause: unknown): ApiProblem => {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ApiProblem('sign_in_unavailable', `the identity provider cannot be used: ${why.slice(0, 200)}`);
};
