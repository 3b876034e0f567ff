import type { HttpServer } from '../servers.ts';
import { askAsClient, type OAuthClient } from './ask-for-tokens.ts';
import { readResource } from './find-authority.ts';
import { formatLogin, type Login, loginName, loginsOf, needsLogin, parseLogin } from './login.ts';
import { type OAuthServer, prepareLogin } from './renew-login.ts';

/**
 * The login of a machine (`client_credentials`). The first of several processes asks, and the others take its result.
 * @throws McpError, an error of the network
 */
export async function logInAsClient(of: OAuthServer, signal: AbortSignal): Promise<Login> {
  const { name, tenant, host } = of;
  const { issuer, resource, metadata, metadataUrl, scope } = await prepareLogin(of, signal);
  const key = loginName(name, { issuer, resource });
  return await host.logins.exclusively(key, { tenant, signal }, async () => {
    const present = findLogin(of);
    if (present !== undefined) return present;
    const client = operatorClient(of);
    const tokens = await askAsClient({ issuer, metadata, client, resource, host, signal }, scope).catch((error) => {
      throw 'code' in error && error.name === 'TokenRefusal'
        ? needsLogin(of, `${issuer} refuses its client (${error.code}).`)
        : error;
    });
    const { client_id } = client;
    const login: Login = {
      grant: 'client_credentials',
      url: of.server.url,
      issuer,
      resource,
      metadata_url: metadataUrl,
      client_id,
      scope,
      ...tokens,
    };
    await host.logins.write(key, formatLogin(login), { tenant });
    return login;
  });
}

function operatorClient(of: OAuthServer): Required<OAuthClient> {
  const { server, tenant, host } = of;
  const { client_id, client_secret } = server.oauth ?? {};
  if (client_id === undefined || client_secret === undefined) throw needsLogin(of, 'its entry names no client.');
  return { client_id, client_secret: host.secret(client_secret, { tenant }) };
}

/** The login of a server, unless its settings have changed since; undefined without one. @throws McpError EMCPLOGIN */
export function findLogin(of: OAuthServer): Login | undefined {
  const { name, server, tenant, host } = of;
  const [key] = loginsOf(name, host.logins.list(tenant));
  const text = key === undefined ? undefined : host.logins.read(key, { tenant });
  if (text === undefined) return undefined;
  const login = parseLogin(text);
  if (!fits(server, login)) throw needsLogin(of, 'its entry has changed since the last login.');
  return login;
}

function fits({ url, oauth }: HttpServer, login: Login): boolean {
  const { grant = 'authorization_code', issuer = login.issuer, client_id = login.client_id } = oauth ?? {};
  const isSame = grant === login.grant && issuer === login.issuer && client_id === login.client_id;
  return isSame && url === login.url;
}

/**
 * Looks whether the server still names the issuer and the resource of the login. Otherwise it gets no token.
 * @param metadataUrl where the server describes itself now
 * @throws McpError EMCPLOGIN, EMCPAUTH, an error of the network
 */
export async function confirmIssuer(
  of: OAuthServer,
  login: Login,
  { metadataUrl = login.metadata_url, signal }: { metadataUrl?: string | undefined; signal: AbortSignal },
): Promise<void> {
  const { server, host } = of;
  const { issuers, resource } = await readResource(server, metadataUrl, host, signal);
  if (issuers.includes(login.issuer) && resource === login.resource) return;
  const now = issuers[0]?.slice(0, 300) ?? 'none';
  throw needsLogin(of, `the login is one of ${login.issuer}, and the server names ${now} now. It got no token.`);
}
