import * as mcp from '@modelcontextprotocol/client';
import { toResponse } from '../connection/guarded-fetch.ts';
import { McpError } from '../errors.ts';
import { isLoopback } from '../oauth-settings.ts';
import { type Login, tokenSchema } from './login.ts';
import type { OAuthHost } from './port.ts';

const mostBytes = 64 * 1024;
const timeoutMs = 15_000;

/** The requests of a login, through the guard: bounded, encrypted except on this machine, without redirects. */
export const oauthFetch =
  ({ send }: Pick<OAuthHost, 'send'>, signal: AbortSignal): mcp.FetchLike =>
  async (input, init = {}) => {
    const url = secureUrl(input);
    const method = init.method ?? 'GET';
    if (method !== 'GET' && method !== 'POST') throw new Error(`The client sent a ${method}.`);
    const answer = await send(
      {
        ...{ url: url.href, method, headers: Object.fromEntries(new Headers(init.headers)) },
        body: init.body === undefined || init.body === null ? undefined : String(init.body),
        mayFollow: () => false,
        max_bytes: mostBytes,
        timeout_ms: timeoutMs,
      },
      signal,
    );
    if (answer.truncated) throw untrusted(`${url.origin}${url.pathname} answered with more than 64 KiB.`);
    return toResponse(answer);
  };

/** @throws McpError EMCPAUTH for an address without encryption on another machine */
export function secureUrl(address: string | URL): URL {
  const url = URL.parse(String(address));
  const { protocol, hostname, username, password } = url ?? { protocol: '' };
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname ?? ''));
  if (url !== null && isSecure && username === '' && password === '') return url;
  throw untrusted(`${String(address).slice(0, 300)} is no https address.`);
}

export const untrusted = (message: string, cause?: unknown): McpError =>
  new McpError('EMCPAUTH', message, 'Nothing was sent to it. Ask the people who run the server.', { cause });

/** A client, as its authorization server knows it. */
export interface OAuthClient {
  client_id: string;
  client_secret?: string;
}

interface Asked {
  issuer: string;
  metadata: mcp.AuthorizationServerMetadata;
  client: OAuthClient;
  resource: string;
  host: OAuthHost;
  signal: AbortSignal;
}

/** The tokens of an answer. */
export type Tokens = Pick<Login, 'access' | 'refresh' | 'scope' | 'expires_at' | 'renew_at'>;

/** The refusal of a token endpoint, by its code alone: the rest of its answer may repeat a token. */
export class TokenRefusal extends Error {
  override name = 'TokenRefusal';
  readonly code: string;

  constructor(code: string) {
    super(`The authorization server refused with ${code}.`);
    this.code = code;
  }
}

export const redeemCode = (
  asked: Asked,
  code: { code: string; verifier: string; redirect: string; iss?: string | undefined },
) =>
  tokensOf(asked, () =>
    mcp.exchangeAuthorization(asked.issuer, {
      ...sent(asked),
      ...{ authorizationCode: code.code, codeVerifier: code.verifier, redirectUri: code.redirect },
      ...(code.iss !== undefined && { iss: code.iss }),
    }),
  );

export const refresh = (asked: Asked, refreshToken: string): Promise<Tokens> =>
  tokensOf(asked, () => mcp.refreshAuthorization(asked.issuer, { ...sent(asked), refreshToken }));

export function askAsClient(asked: Asked, scope: string | undefined): Promise<Tokens> {
  const { client_id: clientId, client_secret: clientSecret = '' } = asked.client;
  const provider = new mcp.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: asked.issuer });
  return tokensOf(asked, () =>
    mcp.fetchToken(provider, asked.issuer, { ...sent(asked), ...(scope !== undefined && { scope }) }),
  );
}

const sent = ({ metadata, client, resource, host, signal }: Asked) => ({
  ...{ metadata, resource, fetchFn: oauthFetch(host, signal) },
  clientInformation: client,
});

/** @throws TokenRefusal, McpError EMCPAUTH, an error of the network */
async function tokensOf({ issuer, host }: Asked, ask: () => Promise<mcp.OAuthTokens>): Promise<Tokens> {
  const answer = await ask().catch((error: unknown) => {
    if (error instanceof mcp.OAuthError)
      throw new TokenRefusal(/^[a-z_]{1,60}$/.test(error.code) ? error.code : 'an error');
    if (error instanceof McpError || (error instanceof Error && 'next' in error)) throw error;
    if (error instanceof mcp.InsecureTokenEndpointError) throw untrusted(error.message.slice(0, 300));
    throw untrusted(`The token endpoint of ${issuer} answered with no tokens.`);
  });
  if (answer.token_type.toLowerCase() !== 'bearer') throw untrusted(`${issuer} issues no bearer tokens.`);
  const { access_token: access, refresh_token, scope, expires_in } = answer;
  for (const token of [access, refresh_token]) {
    if (token === undefined || tokenSchema.safeParse(token).success) continue;
    throw untrusted(
      `${issuer} issues tokens of fewer than 16 characters, or with characters that no header can carry.`,
    );
  }
  // Without a scope in the answer, the scopes are those that were asked for.
  const granted = scope === undefined ? {} : { scope };
  return { access, refresh: refresh_token, ...granted, ...timesOf(expires_in, host.now()) };
}

const longestLifetime = 10 * 365 * 86_400;
/** Seconds before its end at which a token is renewed; a fifth of a shorter life. */
const margin = 30;

function timesOf(seconds: number | undefined, now: number): Pick<Tokens, 'expires_at' | 'renew_at'> {
  if (seconds === undefined || !(seconds >= 0)) return { expires_at: undefined, renew_at: undefined };
  const lifetime = Math.min(seconds, longestLifetime);
  const used = Math.max(lifetime - margin, lifetime * 0.8);
  return { expires_at: Math.floor(now + lifetime * 1000), renew_at: Math.floor(now + used * 1000) };
}
