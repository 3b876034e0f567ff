export { explainCall } from './explain-call.ts';
export { deletePolicy, putPolicy } from './put-policy.ts';
export { getPolicy, listPolicies, listVersions, resolvePolicy } from './read-policies.ts';
export { findPattern, proposeFromPast } from './replay/propose-from-past.ts';
export { type Candidate, replayPolicy } from './replay/replay-policy.ts';
