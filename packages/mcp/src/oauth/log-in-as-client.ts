import { askAsClient, type OAuthClient } from './ask-for-tokens.ts';
import { findLogin } from './find-login.ts';
import { formatLogin, type Login, loginName, needsLogin } from './login.ts';
import { prepareLogin } from './prepare-login.ts';
import type { OAuthServer } from './renew-login.ts';

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
