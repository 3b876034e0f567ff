import type { Tenant } from '@holdpoint/contract';

/**
 * Names have no colon, so no two policies share a key. All keys share one hash tag, because scripts use a policy together with the list of
 * names.
 */
const prefix = 'hp:{policies}:';
/** A hash: `latest`, `digest` of the newest version, `deleted`, and each version as JSON under its number. */
export const policyKey = (tenant: Tenant, name: string): string => `${prefix}policy:${tenant}:${name}`;
/** A sorted set of equal scores: the names of the policies that are not deleted. */
export const policyNamesKey = (tenant: Tenant): string => `${prefix}names:${tenant}`;
/** A hash: all operator policies that were ever in force, by the short digest recorded in steps. */
export const operatorDocumentsKey = `${prefix}operator-documents`;
