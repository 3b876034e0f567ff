import { randomBytes } from 'node:crypto';
import * as mcp from '@modelcontextprotocol/client';
import { McpError } from '../errors.ts';
import { redeemCode, TokenRefusal } from './ask-for-tokens.ts';
import { chooseClient } from './choose-client.ts';
import { logInAsClient } from './log-in-as-client.ts';
import { type Login, loginsOf } from './login.ts';
import { untrusted } from './oauth-fetch.ts';
import { openCallback } from './open-callback.ts';
import { keepLogin, type Preparation, prepareLogin } from './prepare-login.ts';
import type { OAuthServer } from './renew-login.ts';

/** The person who logs in. */
export interface Person {
  /** Shows the address of the authorization server. */
  show(address: URL): void;
  /** Hears of something that has no effect on the login. */
  note(text: string): void;
  waitMs: number;
}

/**
 * Logs in at a server: by a person in a browser (authorization code with PKCE), or as a machine. The login is on disk when this returns.
 * @throws McpError, an error of the network
 */
export async function logIn(of: OAuthServer, person: Person, signal: AbortSignal): Promise<Login> {
  if (of.server.oauth?.grant !== 'client_credentials') return await logInByPerson(of, person, signal);
  const { name, tenant, host } = of;
  host.logins.assertOpen();
  for (const key of loginsOf(name, host.logins.list(tenant))) await host.logins.remove(key, { tenant });
  return await logInAsClient(of, signal);
}

async function logInByPerson(of: OAuthServer, person: Person, signal: AbortSignal): Promise<Login> {
  const { server, host } = of;
  const prepared = await prepareLogin(of, signal);
  const { issuer, metadata, resource, metadataUrl, scope } = prepared;
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    throw untrusted(`${issuer} does not protect its codes (PKCE with S256).`);
  const state = randomBytes(32).toString('base64url');
  using callback = await openCallback({
    ...{ state, port: server.oauth?.redirect_port, waitMs: person.waitMs, signal },
    onStranger: () => person.note('An answer with another state came, and was refused.'),
  });
  const { redirect } = callback;
  const { client, isOwn } = await chooseClient(of, prepared, { redirect, signal });
  const { authorizationUrl, codeVerifier: verifier } = await mcp.startAuthorization(issuer, {
    ...{ metadata, clientInformation: client, redirectUrl: redirect, state, resource },
    ...(scope !== undefined && { scope }),
  });
  person.show(authorizationUrl);
  const { code, iss } = codeOf(await callback.answer, prepared);
  const asked = { issuer, metadata, client, resource, host, signal };
  const tokens = await redeemCode(asked, { code, verifier, redirect, iss }).catch((error: unknown) => {
    throw error instanceof TokenRefusal ? refused(issuer, error.code) : error;
  });
  const login: Login = {
    ...{
      grant: 'authorization_code' as const,
      url: server.url,
      issuer,
      resource,
      client_id: client.client_id,
      metadata_url: metadataUrl,
    },
    ...{ scope, ...tokens, clientSecret: isOwn ? client.client_secret : undefined },
  };
  await keepLogin(of, login, signal);
  return login;
}

/** The code of an answer, when the answer comes from the issuer (RFC 9207). @throws McpError EMCPAUTH */
function codeOf(answer: URLSearchParams, { metadata, issuer }: Preparation): { code: string; iss: string | undefined } {
  const iss = answer.get('iss') ?? undefined;
  const issParameterSupported =
    'authorization_response_iss_parameter_supported' in metadata &&
    metadata.authorization_response_iss_parameter_supported === true;
  try {
    mcp.validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata.issuer, issParameterSupported });
  } catch (error) {
    if (!(error instanceof mcp.IssuerMismatchError)) throw error;
    throw untrusted(
      `The answer comes from ${iss?.slice(0, 300) ?? 'an unnamed issuer'}, not from ${issuer}. Its code was not used.`,
    );
  }
  const code = answer.get('code');
  if (code !== null && code !== '') return { code, iss };
  throw refused(issuer, answer.get('error') ?? 'no code');
}

const refused = (issuer: string, code: string): McpError =>
  new McpError(
    'EMCPAUTH',
    `${issuer} refuses the login: ${/^[a-z_ ]{1,60}$/.test(code) ? code : 'an error'}`,
    'Run the command again. When the client is refused, look at its registration there.',
  );
