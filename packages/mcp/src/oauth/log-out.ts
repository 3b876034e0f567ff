import { oauthFetch, secureUrl } from './ask-for-tokens.ts';
import { readIssuer } from './find-authority.ts';
import { type Login, loginsOf, parseLogin } from './login.ts';
import type { OAuthHost } from './port.ts';

/** How the logout of a login ended: its issuer, and whether the issuer has ended the tokens, too. */
export interface LoggedOut {
  issuer: string;
  isRevoked: boolean;
}

/** Removes the logins of a server, and asks their issuers to end the tokens (RFC 7009). A failing issuer keeps no login here. */
export async function logOut(
  { name, tenant, host }: { name: string; tenant: string; host: OAuthHost },
  signal: AbortSignal,
): Promise<LoggedOut[]> {
  const ended: LoggedOut[] = [];
  for (const key of loginsOf(name, host.logins.list(tenant))) {
    const text = await host.logins.exclusively(key, { tenant, signal }, async () => {
      const present = host.logins.read(key, { tenant });
      await host.logins.remove(key, { tenant });
      return present;
    });
    if (text === undefined) continue;
    const login = parseLogin(text);
    const isRevoked = await revoke(login, host, signal).catch(() => false);
    ended.push({ issuer: login.issuer, isRevoked });
  }
  return ended;
}

async function revoke({ issuer, ...login }: Login, host: OAuthHost, signal: AbortSignal): Promise<boolean> {
  const metadata = await readIssuer(issuer, host, signal);
  const endpoint = 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  if (typeof endpoint !== 'string') return false;
  const { refresh, access, client_id, clientSecret } = login;
  const body = new URLSearchParams({ token: refresh ?? access, client_id });
  if (clientSecret !== undefined) body.set('client_secret', clientSecret);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { ok } = await oauthFetch(host, signal)(secureUrl(endpoint), { method: 'POST', headers, body });
  return ok;
}
