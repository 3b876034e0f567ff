import type { Tenant } from './caller.ts';

/**
 * Redis set: the persons who have ever held a key with this name in the tenant. Packages that issue keys write it, and packages that count
 * voters read it. A name without an entry is its own person.
 */
export const personsKey = (tenant: Tenant, name: string): string => `hp:{keys}:persons:${tenant}:${name.toLowerCase()}`;
