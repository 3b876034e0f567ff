import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectDir, useSystem } from '../harness/index.ts';
import { bringSuite, runScenario, withKey } from './conformance-suite.ts';

const missing = bringSuite();
if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`);
const system = useSystem();
let proxy: Awaited<ReturnType<typeof withKey>>;
beforeAll(async () => {
  const api = await system.startOtherApi({}, join(projectDir, 'packages/mcp-server/src/testing/fixture-tools.ts'));
  proxy = await withKey(String(api.ready.address), system.key);
});
afterAll(() => proxy?.stop());

/**
 * The others need what tasks of this server never do: ask the client for input (`tasks-mrtr-input`, `tasks-mrtr-composition`) or refuse a
 * client without the extension (`tasks-required-task-error`). `tasks-status-notifications` is empty in this version of the suite.
 */
test
  .skipIf(missing !== undefined)
  .each([
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
  ])('%s', async (scenario) => {
  const verdict = await runScenario(scenario, proxy.url);
  expect(verdict.failed, verdict.output).toBe(0);
  expect(verdict.passed).toBeGreaterThan(0);
});

test.skipIf(missing !== undefined)('tasks-lifecycle: all but a tool that breaks the protocol', async () => {
  const { failed, passed, output } = await runScenario('tasks-lifecycle', proxy.url);
  expect({ failed, passed }, output).toEqual({ failed: 1, passed: 8 });
  expect(output).toContain('Tool protocol_error_job not found');
});
