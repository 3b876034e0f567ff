import { RegistrationRejectedError, registerClient } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { McpError } from '../errors.ts';
import type { OAuthClient } from './ask-for-tokens.ts';
import { tokenSchema } from './login.ts';
import { oauthFetch, untrusted } from './oauth-fetch.ts';
import type { Preparation } from './prepare-login.ts';
import type { OAuthServer } from './renew-login.ts';

interface ChosenClient {
  client: OAuthClient;
  /** The client has registered itself, so its secret belongs to the login. */
  isOwn: boolean;
}

/**
 * The client for a person's login: the registered one of the entry, else its metadata document, else one that registers itself.
 * @throws McpError EMCPAUTH, an error of the network
 */
export async function chooseClient(
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
  const answer = await registerClient(issuer, { metadata, clientMetadata, fetchFn: oauthFetch(host, signal) }).catch(
    (error: unknown) => {
      throw registrationError(issuer, error);
    },
  );
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
  if (error instanceof RegistrationRejectedError)
    return untrusted(`${issuer} refuses to register Holdpoint (status ${error.status}).`);
  if (error instanceof McpError || (error instanceof Error && 'next' in error)) return error;
  return untrusted(`${issuer} answered the registration with no client.`);
}
