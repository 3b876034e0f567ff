import type { Tenant } from '@holdpoint/contract';

/** Names hold no colon, so no two policies share a key. One hash tag: scripts touch a policy and the list of names. */
const prefix = 'hp:{policies}:';
/** A hash: `latest`, `digest` of the newest version, `deleted`, and each version as JSON under its number. */
export const policyKey = (tenant: Tenant, name: string): string => `${prefix}policy:${tenant}:${name}`;
/** A sorted set of equal scores: the names of the policies that are not deleted. */
export const policyNamesKey = (tenant: Tenant): string => `${prefix}names:${tenant}`;
/** A hash: the operator's policies that were ever in force, by the short digest that steps record. */
export const operatorDocumentsKey = `${prefix}operator-documents`;
