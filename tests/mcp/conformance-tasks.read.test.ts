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
 * The scenarios that need fixture tools. The others of tasks need what a task of this server never does: ask the client for input
 * (`tasks-mrtr-input`, `tasks-mrtr-composition`). `tasks-status-notifications` is empty in this version of the suite.
 */
test
  .skipIf(missing !== undefined)
  .each([
    'server-stateless',
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-error',
    'tools-call-with-progress',
    'input-required-result-unsupported-methods',
    'tasks-lifecycle',
    'tasks-required-task-error',
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
