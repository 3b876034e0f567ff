import { ConfigError } from '@holdpoint/runtime';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

test('what is not set has its default, and numbers come as text', () => {
  const config = readConfig({ HOLDPOINT_DATA: '/data', HOLDPOINT_LOCK_MS: '3000' });
  expect(config).toMatchObject({
    dataDir: '/data',
    redisUrl: undefined,
    lockMs: 3000,
    stalledMs: 5000,
    sandboxPolicy: 'require',
    allowUnsandboxed: false,
    toolchains: [],
    languageServers: 4,
    mcpPrograms: { most: 8, idleMs: 120_000 },
    layers: 'auto',
    preparedBytes: 5 * 1024 ** 3,
    poolBytes: 5 * 1024 ** 3,
    metrics: { scraped: undefined, otlp: undefined },
  });
});

test('toolchains are a list, and running without a sandbox must be said in words', () => {
  const config = readConfig({ HOLDPOINT_TOOLCHAINS: '/opt/go:/opt/rust', HOLDPOINT_ALLOW_UNSANDBOXED: 'true' });
  expect(config).toMatchObject({ toolchains: ['/opt/go', '/opt/rust'], allowUnsandboxed: true });
});

test('the rate of a provider', () => {
  const rates = { anthropic: { per_minute: 50, at_once: 8 } };
  expect(readConfig({ HOLDPOINT_MODEL_RATE: JSON.stringify(rates) }).rates).toEqual(rates);
});

test.each([
  ['HOLDPOINT_LOCK_MS', 'soon'],
  ['HOLDPOINT_LOCK_MS', '10'],
  ['HOLDPOINT_SANDBOX', 'off'],
  ['HOLDPOINT_PREPARED_BYTES', '-1'],
  ['HOLDPOINT_POOL_BYTES', '-1'],
  ['HOLDPOINT_LANGUAGE_SERVERS', '-1'],
  ['HOLDPOINT_MCP_PROGRAMS', '-1'],
  ['HOLDPOINT_LAYERS', 'overlay'],
  ['HOLDPOINT_ALLOW_UNSANDBOXED', '1'],
  ['HOLDPOINT_LIMITS', '{"max_turns": 0}'],
  ['HOLDPOINT_MODEL_RATE', '{"anthropics": {"at_once": 2}}'],
  ['HOLDPOINT_MODEL_RATE', '{"anthropic": {"per_minute": 0}}'],
  ['HOLDPOINT_MODEL_RATE', 'slow'],
  ['HOLDPOINT_POLICY', 'policy.json'],
  ['HOLDPOINT_SOURCE_ROOTS', 'code'],
])('%s=%s is refused by its name', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
  expect(() => readConfig({ [name]: value })).toThrow(name);
});
