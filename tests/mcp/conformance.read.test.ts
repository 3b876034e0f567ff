import { afterAll, beforeAll, expect, test } from 'vitest';
import { useSystem } from '../harness/index.ts';
import { bringSuite, runScenario, withKey } from './conformance-suite.ts';

const missing = bringSuite();
if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`);
const system = useSystem({ workers: 0 });
let proxy: Awaited<ReturnType<typeof withKey>>;
beforeAll(async () => {
  proxy = await withKey(system.api.url(), system.key);
});
afterAll(() => proxy.stop());

/** The scenarios about the protocol itself. The others call fixture tools, prompts and log levels, which this server does not have. */
test
  .skipIf(missing !== undefined)
  .each([
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'http-header-validation',
  ])('%s', async (scenario) => {
  const verdict = await runScenario(scenario, proxy.url);
  expect(verdict.failed, verdict.output).toBe(0);
});

test.skipIf(missing !== undefined)('caching: all but the list of prompts, which this server lacks', async () => {
  const { failed, passed, output } = await runScenario('caching', proxy.url);
  expect({ failed, passed }, output).toEqual({ failed: 1, passed: 6 });
  expect(output).toContain('prompts/list returned JSON-RPC error -32601');
});

test.skipIf(missing !== undefined)('server-stateless: all that needs no fixture tool', async () => {
  const { failed, output } = await runScenario('server-stateless', proxy.url);
  const untestable = output.match(/Error: Not testable: server does not list the diagnostic tool/g) ?? [];
  expect(untestable, output).toHaveLength(4);
  expect(failed, output).toBe(untestable.length);
});
