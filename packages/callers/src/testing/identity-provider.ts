import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** The people of a provider, by their login names. */
interface Account {
  groups: string[];
  email_verified?: boolean;
}

export interface IdentityProvider {
  issuer: string;
  accounts: Map<string, Account>;
  provider: Provider;
  client: { client_id: string; client_secret: string };
  /** Ends the server; with `start` it is there again, at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const secret = 'the secret of a client of a test, long enough';

/** A real provider on loopback, with pages for the login, rotating refresh tokens, the device flow and back-channel logout. */
export async function startIdentityProvider(options: {
  redirectUri: string;
  logoutUri: string;
  devices?: boolean;
}): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const accounts = new Map<string, Account>();
  const grants = [
    'authorization_code',
    'refresh_token',
    ...(options.devices === false ? [] : ['urn:ietf:params:oauth:grant-type:device_code']),
  ];
  const clientOf = (client_id: string, redirect: string) => ({
    ...{ client_id, client_secret: secret, grant_types: grants, response_types: ['code' as const] },
    ...{
      redirect_uris: [redirect],
      backchannel_logout_uri: options.logoutUri,
      backchannel_logout_session_required: true,
    },
  });
  const provider = new Provider(issuer, {
    clients: [clientOf('holdpoint', options.redirectUri), clientOf('another', `${issuer}/another`)],
    claims: { openid: ['sub', 'sid'], profile: ['groups'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (_context, id) => {
      const account = accounts.get(id);
      if (account === undefined) return undefined;
      const { groups, email_verified = true } = account;
      return { accountId: id, claims: () => ({ sub: id, groups, email: `${id}@example.com`, email_verified }) };
    },
    cookies: { keys: ['the key of the cookies of a test'] },
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    // The people of a test have nothing to agree to.
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client?.clientId ?? '',
        accountId: context.oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: 3600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      deviceFlow: { enabled: options.devices !== false },
      revocation: { enabled: true },
    },
  });
  server.on('request', provider.callback());
  return {
    ...{ issuer, accounts, provider },
    client: { client_id: 'holdpoint', client_secret: secret },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    start: () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve)),
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A browser without scripts: follows redirects, keeps cookies per host, and fills in the login page of the provider. */
export class PlainBrowser {
  readonly cookies = new Map<string, string>();

  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const own = [...this.cookies].flatMap(([name, value]) => {
      const [at, cookie] = name.split(' ');
      return at === host ? [`${cookie}=${value}`] : [];
    });
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, cookie: own.join('; ') },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const name = `${host} ${pair.slice(0, at)}`;
      if (at + 1 === pair.length || /expires=Thu, 01 Jan 1970/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(at + 1));
    }
    return response;
  }

  /** Follows redirects until the address matches, and returns that address without asking for it. */
  async follow(from: string, until: RegExp, as: string): Promise<string> {
    let url = from;
    for (let hops = 0; hops < 20; hops += 1) {
      if (until.test(url)) return url;
      const response = await this.request(url);
      const next = response.headers.get('location') ?? (await this.submit(url, await response.text(), as));
      if (next === undefined) throw new Error(`${response.status} at ${url}`);
      url = new URL(next, url).href;
    }
    throw new Error(`too many redirects from ${from}`);
  }

  /** Sends the form of a page, as the person. @returns where it leads */
  async submit(at: string, page: string, as: string): Promise<string | undefined> {
    const [, action] = /action="([^"]+)"/.exec(page) ?? [];
    if (action === undefined) return undefined;
    const hidden = [...page.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([tag]) => [
      /name="([^"]+)"/.exec(tag)?.[1] ?? '',
      /value="([^"]*)"/.exec(tag)?.[1] ?? '',
    ]);
    const body = new URLSearchParams([...hidden, ['login', as], ['password', 'any']]);
    const place = new URL(action.replaceAll('&amp;', '&'), at).href;
    const response = await this.request(place, { method: 'POST', body });
    const next = response.headers.get('location');
    return next === null ? this.submit(place, await response.text(), as) : new URL(next, place).href;
  }
}
