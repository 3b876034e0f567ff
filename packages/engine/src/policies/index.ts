export { explainCall } from './explain-call.ts';
export { deletePolicy, putPolicy } from './put-policy.ts';
export { getPolicy, listPolicies, listVersions, resolvePolicy } from './read-policies.ts';
