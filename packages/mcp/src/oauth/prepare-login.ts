import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { McpError } from '../errors.ts';
import { hasOwnLogin } from '../servers.ts';
import { askForChallenge, type Resource, readIssuer, readResource } from './find-authority.ts';
import { formatLogin, type Login, loginName, loginsOf } from './login.ts';
import { untrusted } from './oauth-fetch.ts';
import type { OAuthServer } from './renew-login.ts';

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
