import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

const scope = 'tickets:write';

/** A real authorization server on loopback, with pages for a login, rotating refresh tokens and detection of their reuse. */
export interface AuthorizationServer {
  issuer: string;
  /** Seconds of each later access token. */
  lifetime: number;
  /** The outcome of each request for tokens. */
  readonly grants: readonly string[];
  /** Every token that was issued. */
  readonly issued: ReadonlySet<string>;
  /** Whether it issued the token for the resource, and the token counts now. */
  accepts(token: string, resource: string): Promise<boolean>;
  /** Ends every token of the grants so far. */
  revokeAll(): Promise<void>;
  stop(): void;
}

/** @param machine id and secret of a client for `client_credentials` */
export async function startAuthorizationServer(machine: { id: string; secret: string }): Promise<AuthorizationServer> {
  const server = createServer();
  await listening(server);
  const issuer = addressOf(server);
  const state = { issuer, lifetime: 3600, grants: [] as string[], issued: new Set<string>() };
  const grantIds = new Set<string>();
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: machine.id, client_secret: machine.secret, grant_types: ['client_credentials'] },
        ...{ redirect_uris: [], response_types: [], scope },
      },
    ],
    scopes: ['openid', 'offline_access', scope],
    cookies: { keys: ['the key of the cookies of a test'] },
    ttl: {
      AccessToken: () => state.lifetime,
      ClientCredentials: () => state.lifetime,
      RefreshToken: 3600,
      Grant: 3600,
      Session: 3600,
      Interaction: 600,
    },
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_context, audience) => ({
          ...{ scope, audience, accessTokenFormat: 'opaque' as const, accessTokenTTL: state.lifetime },
        }),
      },
    },
  });
  provider.on('grant.success', (context) => {
    state.grants.push(`${context.oidc.params?.grant_type}`);
    const body: unknown = context.body;
    for (const [name, value] of Object.entries(body ?? {}))
      if (/^(access|refresh)_token$/.test(name)) state.issued.add(String(value));
    const grantId = context.oidc.entities.Grant?.jti;
    if (grantId !== undefined) grantIds.add(grantId);
  });
  provider.on('grant.error', (context, error) => {
    state.grants.push(`${context.oidc.params?.grant_type}: ${error.message}`);
  });
  server.on('request', provider.callback());
  return Object.assign(state, {
    async accepts(token: string, resource: string): Promise<boolean> {
      const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
      return found?.isValid === true && [found.aud].flat().includes(resource);
    },
    async revokeAll(): Promise<void> {
      for (const id of grantIds) {
        await provider.AccessToken.revokeByGrantId(id);
        await provider.RefreshToken.revokeByGrantId(id);
      }
    },
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  });
}

export async function listening(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

export const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/**
 * A person with a browser: logs in, consents, and follows the redirect to this machine.
 * @returns the address of the redirect and the text of its page
 */
export async function logInByBrowser(address: string): Promise<{ redirect: URL; page: string }> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  let form: URLSearchParams | undefined;
  for (let steps = 0; steps < 20; steps++) {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    form = undefined;
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const page = await answer.text();
    if (url.pathname === '/callback') return { redirect: url, page };
    const location = answer.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (prompt === undefined || action === undefined) throw new Error(`no form at ${url}: ${answer.status} ${page}`);
    url = new URL(action, url);
    form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: 'ada', password: 'anything' }) });
  }
  throw new Error('the login does not end');
}
