import { defaultTenant } from '@holdpoint/contract';
import { loginTenants, savedLogins } from '@holdpoint/secrets';

/** The names of the logins at MCP servers, of one tenant. Needs no key. */
export const operatorLogins = (dataDir: string, tenant: string = defaultTenant): string[] =>
  savedLogins(dataDir, tenant);

/** The tenants with a login at an MCP server. */
export { loginTenants };
