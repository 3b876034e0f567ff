import type { McpServer } from '@holdpoint/mcp';
import { type LoggedOut, type Login, logIn, logOut, type Person } from '@holdpoint/mcp/oauth';
import { operatorMeans } from './adapters/operator-means.ts';
import { openOAuthHost } from './adapters/run-network.ts';

/** The host of the operator who logs in. */
interface LoginHost {
  dataDir: string;
  environment: Readonly<Record<string, string>>;
}

/** Logs a tenant in at an MCP server. @throws McpError, SecretError, EgressError */
export async function logInToServer(
  name: string,
  server: Extract<McpServer, { url: string }>,
  { tenant, host, person, signal }: { tenant: string; host: LoginHost; person: Person; signal: AbortSignal },
): Promise<Pick<Login, 'issuer' | 'resource' | 'scope' | 'expires_at' | 'grant'>> {
  const of = { name, server, tenant, host: openOAuthHost(operatorMeans(host)) };
  const { issuer, resource, scope, expires_at, grant } = await logIn(of, person, signal);
  return { issuer, resource, scope, expires_at, grant };
}

/** Ends the logins of a tenant at an MCP server. @throws SecretError */
export const logOutOfServer = (
  name: string,
  { tenant, host, signal }: { tenant: string; host: LoginHost; signal: AbortSignal },
): Promise<LoggedOut[]> => logOut({ name, tenant, host: openOAuthHost(operatorMeans(host)) }, signal);
