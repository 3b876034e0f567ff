import type { Network, NetworkRequest, NetworkResponse } from '@holdpoint/tools';
import { McpError } from '../errors.ts';
import { hasOwnLogin } from '../servers.ts';
import { challengeOf } from './find-authority.ts';
import { confirmIssuer, findLogin, logInAsClient } from './log-in-as-client.ts';
import { type Login, loginCommand, loginName, needsLogin } from './login.ts';
import { type OAuthServer, renewLogin } from './renew-login.ts';

/** How long a server's own word about its issuer counts. */
const confirmedMs = 60_000;

/** Adds the token of the tenant's login to the requests of a server. A refused token is renewed, once. */
export function signedIn<Way extends Pick<Network, 'fetch'>>(network: Way, of: OAuthServer): Way {
  if (hasOwnLogin(of.server)) return network;
  return {
    ...network,
    async fetch(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse> {
      const login = await usableLogin(of, signal);
      const answer = await network.fetch(withToken(request, login), signal);
      if (answer.status === 403) throwForScope(of, answer);
      if (answer.status !== 401) return answer;
      if (login === undefined) throw needsLogin(of, 'it answers no request without one.');
      const again = await network.fetch(withToken(request, await afterRefusal(of, login, answer, signal)), signal);
      if (again.status === 401) throw needsLogin(of, 'it refuses a token that was renewed just now.');
      return again;
    },
  };
}

const withToken = (request: NetworkRequest, login: Login | undefined): NetworkRequest =>
  login === undefined
    ? request
    : { ...request, headers: { ...request.headers, authorization: `Bearer ${login.access}` } };

async function usableLogin(of: OAuthServer, signal: AbortSignal): Promise<Login | undefined> {
  const login = findLogin(of) ?? (await ofMachine(of, signal));
  if (login === undefined) return undefined;
  await confirmed(of, login, signal);
  const { renew_at, refresh, grant } = login;
  const isOver = renew_at !== undefined && renew_at <= of.host.now();
  const canRenew = refresh !== undefined || grant === 'client_credentials';
  return isOver && canRenew ? renewLogin(of, login, signal) : login;
}

/** A machine needs no person for its login. */
const ofMachine = async (of: OAuthServer, signal: AbortSignal): Promise<Login | undefined> =>
  of.server.oauth?.grant === 'client_credentials' ? logInAsClient(of, signal) : undefined;

const lastConfirmed = new Map<string, number>();

/** At most once a minute. */
async function confirmed(of: OAuthServer, login: Login, signal: AbortSignal): Promise<void> {
  const key = `${of.tenant} ${loginName(of.name, login)} ${of.server.url}`;
  const last = lastConfirmed.get(key);
  const now = of.host.now();
  if (last !== undefined && Math.abs(now - last) < confirmedMs) return;
  await confirmIssuer(of, login, { signal });
  lastConfirmed.set(key, now);
}

/** The server may refuse because it has another issuer now. */
async function afterRefusal(
  of: OAuthServer,
  login: Login,
  answer: NetworkResponse,
  signal: AbortSignal,
): Promise<Login> {
  const { metadataUrl } = challengeOf(answer.headers);
  await confirmIssuer(of, login, { metadataUrl, signal });
  return renewLogin(of, login, signal);
}

function throwForScope(of: OAuthServer, { headers }: NetworkResponse): void {
  const { error, scopes = [] } = challengeOf(headers);
  if (error !== 'insufficient_scope') return;
  const wanted = scopes.join(' ').slice(0, 300);
  throw new McpError(
    'EMCPLOGIN',
    `The login of the MCP server ${of.name} has too few rights for this call. It asks for: ${wanted}`,
    `Continue without this call. An operator adds the scopes to the entry, and logs in: ${loginCommand(of)}`,
  );
}
