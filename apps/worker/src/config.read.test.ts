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
    preparedBytes: 5 * 1024 ** 3,
    metrics: { scraped: undefined, otlp: undefined },
  });
});

test('toolchains are a list, and running without a sandbox must be said in words', () => {
  const config = readConfig({ HOLDPOINT_TOOLCHAINS: '/opt/go:/opt/rust', HOLDPOINT_ALLOW_UNSANDBOXED: 'true' });
  expect(config).toMatchObject({ toolchains: ['/opt/go', '/opt/rust'], allowUnsandboxed: true });
});

test.each([
  ['HOLDPOINT_LOCK_MS', 'soon'],
  ['HOLDPOINT_LOCK_MS', '10'],
  ['HOLDPOINT_SANDBOX', 'off'],
  ['HOLDPOINT_PREPARED_BYTES', '-1'],
  ['HOLDPOINT_ALLOW_UNSANDBOXED', '1'],
  ['HOLDPOINT_LIMITS', '{"max_turns": 0}'],
  ['HOLDPOINT_POLICY', 'policy.json'],
  ['HOLDPOINT_SOURCE_ROOTS', 'code'],
])('%s=%s is refused by its name', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
  expect(() => readConfig({ [name]: value })).toThrow(name);
});
