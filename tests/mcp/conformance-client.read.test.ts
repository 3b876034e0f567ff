import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectDir, type System, startSystem } from '../harness/index.ts';
import { bringSuite, runClientScenario } from './conformance-suite.ts';

const missing = bringSuite();
if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`);
const program = join(projectDir, 'tests/mcp/conformance-client.ts');
let system: System;
let environment: Record<string, string>;

beforeAll(async () => {
  if (missing !== undefined) return;
  const settings = {
    HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.0/8,::1/128',
    HOLDPOINT_SECRETS_KEY: randomBytes(32).toString('base64'),
  };
  system = await startSystem(settings);
  await system.startWorker();
  const of = { HOLDPOINT_URL: system.api.url(), HOLDPOINT_KEY: system.key, HOLDPOINT_DATA: system.dataDir };
  environment = { ...settings, ...of };
});
afterAll(() => system?.[Symbol.asyncDispose]());

const run = (scenario: string) => runClientScenario(scenario, `${process.execPath} ${program}`, environment);

test
  .skipIf(missing !== undefined)
  .each([
    ...['initialize', 'tools_call', 'request-metadata', 'sep-2322-client-request-state'],
    ...['http-standard-headers', 'http-invalid-tool-headers'],
    ...['json-schema-ref-no-deref', 'json-schema-2020-12-preservation'],
    ...['auth/metadata-default', 'auth/metadata-var1', 'auth/metadata-var2', 'auth/metadata-var3', 'auth/basic-cimd'],
    ...['auth/scope-from-www-authenticate', 'auth/scope-from-scopes-supported', 'auth/scope-omitted-when-undefined'],
    ...['auth/scope-step-up', 'auth/scope-retry-limit', 'auth/token-endpoint-auth-basic'],
    ...['auth/token-endpoint-auth-post', 'auth/token-endpoint-auth-none', 'auth/pre-registration'],
    ...['auth/resource-mismatch', 'auth/offline-access-scope', 'auth/offline-access-not-supported'],
    ...['auth/authorization-server-migration', 'auth/metadata-issuer-mismatch', 'auth/iss-supported'],
    ...['auth/iss-not-advertised', 'auth/iss-supported-missing', 'auth/iss-wrong-issuer', 'auth/iss-unexpected'],
    ...['auth/iss-normalized', 'auth/client-credentials-basic', 'http-custom-headers'],
  ])('%s', async (scenario) => {
  const { failed, warnings, output } = await run(scenario);
  expect({ failed, warnings }, output).toEqual({ failed: 0, warnings: 0 });
});

test.skipIf(missing !== undefined).each([
  ['elicitation-sep1034-client-defaults', 'Connection closed'],
  ['sse-retry', ''],
  ['auth/2025-03-26-oauth-metadata-backcompat', ''],
  ['auth/2025-03-26-oauth-endpoint-fallback', ''],
  ['auth/client-credentials-jwt', ''],
])('%s does not pass, as docs/conformance.md says', async (scenario, words) => {
  const { failed, output } = await run(scenario);
  expect(failed, output).toBeGreaterThan(0);
  expect(output).toContain(words);
});
