import { defaultTenant } from '@holdpoint/contract';
import { savedLogins } from '@holdpoint/secrets';

/** The names of the operator's logins at MCP servers. Needs no key. */
export const operatorLogins = (dataDir: string): string[] => savedLogins(dataDir, defaultTenant);
