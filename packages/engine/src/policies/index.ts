export * from './explain-call.ts';
export * from './put-policy.ts';
export * from './read-policies.ts';
export * from './replay/propose-from-past.ts';
export * from './replay/replay-policy.ts';
