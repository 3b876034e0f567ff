interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): { createScriptURL(address: string): string };
}

/** The addresses of the two workers of the build. The policy passes these alone, and the page has no other policy. */
const allowed: readonly string[] = [LIVE_WORKER, '/service-worker.js'];

const createScriptURL = (address: string): string => {
  if (allowed.includes(address)) return address;
  throw new TypeError(`${address} is no worker of this page`);
};

const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
const policy = types?.createPolicy('worker', { createScriptURL }) ?? { createScriptURL };

/** @param address of a worker; a browser with Trusted Types takes nothing but the answer of this policy */
export const workerAddress = (address: '/service-worker.js' | typeof LIVE_WORKER): string =>
  policy.createScriptURL(address);
