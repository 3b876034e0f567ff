import { randomBytes } from 'node:crypto';
import * as mcp from '@modelcontextprotocol/client';
import { z } from 'zod';
import { McpError } from '../errors.ts';
import { type OAuthClient, oauthFetch, redeemCode, TokenRefusal, untrusted } from './ask-for-tokens.ts';
import { logInAsClient } from './log-in-as-client.ts';
import { type Login, loginsOf, tokenSchema } from './login.ts';
import { openCallback } from './open-callback.ts';
import { keepLogin, type OAuthServer, type Preparation, prepareLogin } from './renew-login.ts';

interface ChosenClient {
  client: OAuthClient;
  /** The client has registered itself, so its secret belongs to the login. */
  isOwn: boolean;
}

/**
 * The client for a person's login: the registered one of the entry, else its metadata document, else one that registers itself.
 * @throws McpError EMCPAUTH, an error of the network
 */
async function chooseClient(
  { server, tenant, host }: OAuthServer,
  prepared: Preparation,
  { redirect, signal }: { redirect: string; signal: AbortSignal },
): Promise<ChosenClient> {
  const { client_id, client_secret, client_metadata_url: document } = server.oauth ?? {};
  if (client_id !== undefined) {
    const secret = client_secret === undefined ? {} : { client_secret: host.secret(client_secret, { tenant }) };
    return { client: { client_id, ...secret }, isOwn: false };
  }
  const { metadata, issuer, scope } = prepared;
  if (document !== undefined && 'client_id_metadata_document_supported' in metadata) {
    if (metadata.client_id_metadata_document_supported === true)
      return { client: { client_id: document }, isOwn: false };
  }
  if (metadata.registration_endpoint === undefined) {
    const next = `Register Holdpoint there with the redirect ${redirect} (and "redirect_port" in the entry), and write "oauth": {"client_id": …} into the entry.`;
    throw new McpError('EMCPAUTH', `${issuer} does not let clients register themselves.`, next);
  }
  const clientMetadata = {
    client_name: 'Holdpoint',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    ...(scope !== undefined && { scope }),
  };
  const answer = await mcp
    .registerClient(issuer, { metadata, clientMetadata, fetchFn: oauthFetch(host, signal) })
    .catch((error: unknown) => {
      throw registrationError(issuer, error);
    });
  const client = clientSchema.safeParse(answer);
  if (!client.success) throw untrusted(`${issuer} registered a client whose id or secret cannot be used.`);
  const { client_id: id, client_secret: secret } = client.data;
  return { client: { client_id: id, ...(secret !== undefined && { client_secret: secret }) }, isOwn: true };
}

const clientSchema = z.object({
  client_id: z.string().regex(/^[\x21-\x7e]{1,2000}$/),
  client_secret: tokenSchema.optional(),
});

/** The answer of a registration may repeat a secret. */
function registrationError(issuer: string, error: unknown): unknown {
  if (error instanceof mcp.RegistrationRejectedError)
    return untrusted(`${issuer} refuses to register Holdpoint (status ${error.status}).`);
  if (error instanceof McpError || (error instanceof Error && 'next' in error)) return error;
  return untrusted(`${issuer} answered the registration with no client.`);
}

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
