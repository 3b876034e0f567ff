import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { McpError } from '../errors.ts';
import { type HttpServer, hasOwnLogin } from '../servers.ts';
import { askAsClient, type OAuthClient, refresh, TokenRefusal, type Tokens, untrusted } from './ask-for-tokens.ts';
import { askForChallenge, type Resource, readIssuer, readResource } from './find-authority.ts';
import { formatLogin, type Login, loginName, loginsOf, needsLogin, parseLogin } from './login.ts';
import type { OAuthHost } from './port.ts';

/** A server, for a tenant's calls. */
export interface OAuthServer {
  name: string;
  server: HttpServer;
  tenant: string;
  host: OAuthHost;
}

/** No renewal takes longer, and none waits longer for another process. */
const renewalMs = 60_000;

/**
 * Replaces the tokens of a login. The first of several processes asks the authorization server, and the others take its result.
 * @param seen the login whose token is of no more use
 * @throws McpError EMCPLOGIN, EMCPAUTH, the reason of the signal
 */
export async function renewLogin(of: OAuthServer, seen: Login, signal: AbortSignal): Promise<Login> {
  signal.throwIfAborted();
  // A call that is cancelled cancels no renewal: its answer has the only refresh token that still counts.
  const renewal = renewAlone(of, seen).catch((error: unknown) => {
    throw error instanceof Error && 'next' in error ? error : lostAnswer(of.name, seen.issuer, error);
  });
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([renewal, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    renewal.catch(() => undefined);
  }
}

async function renewAlone(of: OAuthServer, seen: Login): Promise<Login> {
  const { name, tenant, host } = of;
  const key = loginName(name, seen);
  const signal = AbortSignal.timeout(renewalMs);
  return await host.logins.exclusively(key, { tenant, signal }, async () => {
    const text = host.logins.read(key, { tenant });
    if (text === undefined) throw needsLogin(of, 'its login was taken away.');
    const current = parseLogin(text);
    if (current.access !== seen.access) return current;
    const next = { ...current, ...(await newTokens(of, current, { key, signal })) };
    await host.logins.write(key, formatLogin(next), { tenant });
    return next;
  });
}

async function newTokens(
  of: OAuthServer,
  login: Login,
  { key, signal }: { key: string; signal: AbortSignal },
): Promise<Partial<Tokens>> {
  const { name, tenant, host } = of;
  const { issuer, resource } = login;
  if (login.grant === 'authorization_code' && login.refresh === undefined)
    throw needsLogin(of, 'its token is of no more use, and cannot be renewed.');
  const metadata = await readIssuer(issuer, host, signal);
  const asked = { issuer, metadata, resource, client: clientOf(of, login), host, signal };
  try {
    if (login.refresh === undefined) return await askAsClient(asked, login.scope);
    return await refresh(asked, login.refresh);
  } catch (error) {
    if (error instanceof McpError) throw error;
    if (error instanceof TokenRefusal) {
      // The authorization server has ended the login: its tokens are of no more use.
      if (error.code === 'invalid_grant') await host.logins.remove(key, { tenant });
      if (endsLogin.has(error.code)) throw needsLogin(of, `${issuer} does not renew it (${error.code}).`);
    }
    throw lostAnswer(name, issuer, error);
  }
}

const endsLogin = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'invalid_target',
]);

/** The refresh token may have been used up by a renewal whose answer did not come: the next try shows it. */
const lostAnswer = (name: string, issuer: string, error: unknown): McpError =>
  new McpError(
    'EMCPAUTH',
    `The login of the MCP server ${name} could not be renewed at ${issuer}: ${error instanceof Error ? error.message.slice(0, 300) : 'it failed'}`,
    `Try again later. When that fails, too, an operator logs in again: holdpoint mcp login ${name}`,
  );

/** The client of a login: with the secret of the operator, or its own. */
function clientOf({ server, tenant, host }: OAuthServer, { client_id, clientSecret }: Login): OAuthClient {
  const secret = server.oauth?.client_secret;
  const own = secret !== undefined && server.oauth?.client_id === client_id;
  const client_secret = own ? host.secret(secret, { tenant }) : clientSecret;
  return { client_id, ...(client_secret !== undefined && { client_secret }) };
}

/** What a login needs to know of the server and its authorization server. */
export interface Preparation extends Pick<Resource, 'resource' | 'metadataUrl'> {
  issuer: string;
  metadata: AuthorizationServerMetadata;
  /** Separated by blanks; undefined: the authorization server's choice. */
  scope: string | undefined;
}

/** Asks the server and its authorization server, without credentials. @throws McpError, an error of the network */
export async function prepareLogin(of: OAuthServer, signal: AbortSignal): Promise<Preparation> {
  const { server, host, name } = of;
  host.logins.assertOpen();
  if (hasOwnLogin(server)) {
    const message = `The entry of ${name} has a header Authorization, so it needs no login.`;
    throw new McpError('EMCPCONFIG', message, 'Take the header out of the entry first.');
  }
  const challenge = await askForChallenge(server, host, signal);
  const { resource, issuers, scopes, metadataUrl } = await readResource(server, challenge.metadataUrl, host, signal);
  const issuer = chooseIssuer(of, issuers);
  const metadata = await readIssuer(issuer, host, signal);
  const wanted = server.oauth?.scopes ?? challenge.scopes ?? scopes;
  return { resource, metadataUrl, issuer, metadata, scope: scopeOf(of, wanted, metadata) };
}

function chooseIssuer({ server, name }: OAuthServer, issuers: readonly string[]): string {
  const wanted = server.oauth?.issuer;
  const issuer = wanted ?? issuers[0];
  if (issuer === undefined) throw untrusted(`The server ${name} names no authorization server.`);
  if (issuers.includes(issuer)) return issuer;
  throw untrusted(
    `The entry of ${name} accepts logins of ${issuer} alone, and the server names ${issuers.join(', ').slice(0, 300)}.`,
  );
}

/** With the scope for a refresh token, where there is one. */
function scopeOf({ server }: OAuthServer, scopes: readonly string[], metadata: AuthorizationServerMetadata) {
  const offline = metadata.scopes_supported?.includes('offline_access') && server.oauth?.grant !== 'client_credentials';
  const all = scopes.length > 0 && offline ? [...scopes, 'offline_access'] : scopes;
  return all.length === 0 ? undefined : [...new Set(all)].join(' ');
}

/** Keeps a login in place of every other of the server. */
export async function keepLogin({ name, tenant, host }: OAuthServer, login: Login, signal: AbortSignal): Promise<void> {
  const key = loginName(name, login);
  for (const other of loginsOf(name, host.logins.list(tenant))) {
    if (other !== key) await host.logins.remove(other, { tenant });
  }
  await host.logins.exclusively(key, { tenant, signal }, () => host.logins.write(key, formatLogin(login), { tenant }));
}
