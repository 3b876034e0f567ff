import { createHash } from 'node:crypto';
import { defaultTenant } from '@holdpoint/contract';
import { z } from 'zod';
import { McpError } from '../errors.ts';
import { isHttp, type McpServer } from '../servers.ts';

const factsSchema = z.strictObject({
  grant: z.enum(['authorization_code', 'client_credentials']),
  /** The address of the entry. No other address gets the tokens. */
  url: z.string(),
  /** The authorization server. No other gets the refresh token. */
  issuer: z.string(),
  /** The audience of the tokens. */
  resource: z.string(),
  /** Where the server describes itself. @default the well-known address */
  metadata_url: z.string().optional(),
  client_id: z.string(),
  scope: z.string().optional(),
  /** Milliseconds since the epoch. @default the authorization server did not say */
  expires_at: z.int().optional(),
  /** From then on the tokens are renewed before a request. */
  renew_at: z.int().optional(),
});

/** A login at a server, with its tokens. */
export interface Login extends z.output<typeof factsSchema> {
  access: string;
  refresh?: string | undefined;
  /** A client that registered itself has its secret here. The secret of another client is a secret of the operator. */
  clientSecret?: string | undefined;
}

/** Shorter tokens could not be redacted line by line. */
export const tokenSchema = z.string().regex(/^[\x21-\x7e]{16,16384}$/);

/** Each token has a line of its own: the redaction finds every line of a secret. */
export function formatLogin({ access, refresh = '', clientSecret = '', ...facts }: Login): string {
  return [JSON.stringify(facts), access, refresh, clientSecret].join('\n');
}

/** @throws McpError EMCPAUTH for a text of another form */
export function parseLogin(text: string): Login {
  const [facts = '', access = '', refresh, clientSecret] = text.split('\n');
  return {
    ...factsSchema.parse(JSON.parse(facts)),
    access,
    refresh: refresh || undefined,
    clientSecret: clientSecret || undefined,
  };
}

const digestLength = 32;

/** The name of a login: of a server, an issuer and a resource. Another issuer or resource has another name. */
export function loginName(server: string, { issuer, resource }: Pick<Login, 'issuer' | 'resource'>): string {
  const digest = createHash('sha256').update(`${issuer}\n${resource}`).digest('hex').slice(0, digestLength);
  return `${prefixOf(server)}${digest}`;
}

/** Those of the names that belong to the server. */
export const loginsOf = (server: string, names: readonly string[]): string[] =>
  names.filter((name) => name.slice(0, -digestLength) === prefixOf(server));

/** Whether a person has to log in before runs can call the server. @param saved names of logins */
export const lacksLogin = (name: string, server: McpServer, saved: readonly string[]): boolean =>
  isHttp(server) && server.oauth?.grant === 'authorization_code' && loginsOf(name, saved).length === 0;

/** A server's name has no underscore, so no two servers share a prefix. */
const prefixOf = (server: string): string => `${server.replaceAll('-', '_')}__`;

/** The next step for a server without a usable login. */
export const needsLogin = (of: ForTenant, why: string): McpError =>
  new McpError(
    'EMCPLOGIN',
    `The MCP server ${of.name} needs a login: ${why}`,
    `Continue without the server. An operator logs in: ${loginCommand(of)}`,
  );

/** A server, for runs of a tenant. */
interface ForTenant {
  name: string;
  tenant: string;
}

export const loginCommand = ({ name, tenant }: ForTenant): string =>
  `holdpoint mcp login ${name}${tenant === defaultTenant ? '' : ` --tenant ${tenant}`}`;
