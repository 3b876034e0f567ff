export { createAuthority } from './create-authority.ts';
export { EgressProxy } from './egress-proxy.ts';
export { EgressError } from './errors.ts';
export { createGuard } from './guard.ts';
export { openGuardedFetch } from './guarded-fetch.ts';
export { type HostProbe, probeHost } from './probe-host.ts';
export { type InjectedHeader, type InjectedHeaders, openInjectedHeaders } from './send-request.ts';
