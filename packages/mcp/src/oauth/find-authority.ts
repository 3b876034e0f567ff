import * as mcp from '@modelcontextprotocol/client';
import { McpError } from '../errors.ts';
import type { HttpServer } from '../servers.ts';
import { oauthFetch, secureUrl, untrusted } from './ask-for-tokens.ts';
import type { OAuthHost } from './port.ts';

/** A server as a protected resource (RFC 9728). */
export interface Resource {
  /** Its identifier: the audience of tokens. */
  resource: string;
  issuers: readonly string[];
  /** Scopes that the server asks for. */
  scopes: readonly string[];
  /** Where the description was read; undefined: at the well-known address. */
  metadataUrl: string | undefined;
}

/** Reads who issues tokens for a server. @param metadataUrl as the server named it. @throws McpError EMCPAUTH, an error of the network */
export async function readResource(
  { url }: Pick<HttpServer, 'url'>,
  metadataUrl: string | undefined,
  host: Pick<OAuthHost, 'send'>,
  signal: AbortSignal,
): Promise<Resource> {
  const options = metadataUrl === undefined ? {} : { resourceMetadataUrl: secureUrl(metadataUrl) };
  const said = await described(`The server at ${url}`, () =>
    mcp.discoverOAuthProtectedResourceMetadata(url, options, oauthFetch(host, signal)),
  );
  if (!mcp.checkResourceAllowed({ requestedResource: url, configuredResource: said.resource })) {
    throw untrusted(`The server at ${url} describes another resource: ${said.resource.slice(0, 300)}.`);
  }
  const issuers = said.authorization_servers ?? [];
  return { resource: said.resource, issuers, scopes: said.scopes_supported ?? [], metadataUrl };
}

/** Asks the server without a token: its refusal names its description and scopes. */
export async function askForChallenge(
  { url }: Pick<HttpServer, 'url'>,
  { send }: Pick<OAuthHost, 'send'>,
  signal: AbortSignal,
): Promise<{ metadataUrl?: string; scopes?: string[] }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const { status, headers: received } = await send(
    { url, method: 'POST', headers, body, mayFollow: () => false, max_bytes: 64 * 1024, timeout_ms: 15_000 },
    signal,
  );
  return status === 401 ? challengeOf(received) : {};
}

/** The parts of `WWW-Authenticate` that count here. */
export function challengeOf(headers: Readonly<Record<string, string>>): {
  metadataUrl?: string;
  scopes?: string[];
  error?: string;
} {
  const value = headers['www-authenticate'];
  if (value === undefined) return {};
  const response = new Response(null, { status: 401, headers: { 'www-authenticate': value } });
  const { resourceMetadataUrl, scope, error } = mcp.extractWWWAuthenticateParams(response);
  return {
    ...(resourceMetadataUrl && { metadataUrl: resourceMetadataUrl.href }),
    ...(scope && { scopes: scope.split(' ').filter((one) => one !== '') }),
    ...(error && { error }),
  };
}

/**
 * The description of an authorization server (RFC 8414, OpenID Connect), with the issuer exactly as asked for.
 * @throws McpError EMCPAUTH, an error of the network
 */
export async function readIssuer(
  issuer: string,
  host: Pick<OAuthHost, 'send'>,
  signal: AbortSignal,
): Promise<mcp.AuthorizationServerMetadata> {
  secureUrl(issuer);
  const fetchFn = oauthFetch(host, signal);
  const metadata = await described(`The authorization server ${issuer}`, () =>
    mcp.discoverAuthorizationServerMetadata(issuer, { fetchFn }),
  );
  if (metadata === undefined) throw untrusted(`${issuer} describes no authorization server.`);
  for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint, metadata.registration_endpoint]) {
    if (endpoint !== undefined) secureUrl(endpoint);
  }
  return metadata;
}

async function described<Result>(who: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof McpError || (error instanceof Error && 'next' in error)) throw error;
    if (error instanceof mcp.IssuerMismatchError)
      throw untrusted(`${who} describes itself as another issuer: ${String(error.received).slice(0, 300)}.`, error);
    throw untrusted(`${who} does not describe its logins: ${firstLine(error)}`, error);
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '';
