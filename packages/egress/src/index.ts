export { EgressProxy } from './egress-proxy.ts';
export { EgressError } from './errors.ts';
export { createGuard } from './guard.ts';
export { openGuardedFetch } from './guarded-fetch.ts';
