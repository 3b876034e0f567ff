import { freePort, type IdentityProvider, PlainBrowser, startIdentityProvider } from '@holdpoint/callers/testing';
import { openSecrets } from '@holdpoint/secrets';
import { parseSettings } from '../sign-in-settings.ts';
import { startTestApi, type TestApi } from './test-api.ts';

export interface SignInApi {
  api: TestApi;
  idp: IdentityProvider;
  /** Signs a person in. @returns the browser, and the page that was shown then */
  signIn(as: string, query?: string): Promise<{ browser: PlainBrowser; page: string }>;
  /** A request with the session of the browser. */
  me(browser: PlainBrowser): Promise<{ status: number; body: Record<string, unknown> }>;
  stop(): Promise<void>;
}

const groups = [
  { group: 'engineers', roles: ['developer'] },
  { group: 'leads', roles: ['approver'] },
  { group: 'admins', roles: ['operator'] },
  { group: 'guests', tenant: 'guests', roles: ['developer'] },
];

/** A real API and a real identity provider, both on loopback. */
export async function startSignInApi(changes: Record<string, unknown> = {}, devices = true): Promise<SignInApi> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const at = `${url}/v1/sign-in`;
  const idp = await startIdentityProvider({
    redirectUri: `${at}/callback`,
    logoutUri: `${at}/back-channel-logout`,
    devices,
  });
  const { client_id, client_secret } = idp.client;
  const secrets = { secret: 'OIDC_SECRET' };
  const settings = parseSettings({
    issuer: idp.issuer,
    client_id,
    client_secret: secrets,
    url,
    label: 'Example',
    groups,
    ...changes,
  });
  const api = await startTestApi({
    port,
    signIn: settings,
    sweepMs: 100,
    secrets: openSecrets({
      environment: { OIDC_SECRET: client_secret },
      variables: ['OIDC_SECRET'],
      folder: undefined,
      storeFolder: '/nonexistent',
      key: undefined,
    }),
  });
  const signIn = async (as: string, query = '') => {
    const browser = new PlainBrowser();
    const callback = await browser.follow(`${at}/start${query}`, /\/v1\/sign-in\/callback\?/, as);
    const answer = await browser.request(callback);
    return { browser, page: answer.headers.get('location') ?? `${answer.status}` };
  };
  return {
    ...{ api, idp, signIn },
    async me(browser) {
      const response = await browser.request(`${url}/v1/me`);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    async stop() {
      await api.stop();
      await idp.stop();
    },
  };
}
