import type { EmbeddedRedis } from '@holdpoint/embedded-redis';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let again: EmbeddedRedis;
beforeAll(async () => {
  api = await startTestApi({ metrics: { scraped: { host: '127.0.0.1', port: 0, isOpen: false } } });
});
afterAll(async () => {
  await api.stop();
  await again.stop();
});

const statusOf = async (path: string, key: string) =>
  (await fetch(`${api.address}${path}`, { headers: { authorization: `Bearer ${key}` } })).status;

test('the metrics answer a key that was good before Redis was away, and nothing else does', async () => {
  const reader = await api.client.createKey({ name: 'reader', kind: 'service', scopes: ['runs:read'] });
  expect(await statusOf('/metrics', api.key)).toBe(200);
  expect(await statusOf('/metrics', reader.key)).toBe(403);
  await api.redis.stop();
  expect(await statusOf('/metrics', api.key)).toBe(200);
  expect(await statusOf('/metrics', reader.key)).toBe(503);
  expect(await statusOf('/v1/stuck', api.key)).toBe(503);
  again = await startTestRedis(api.dataDir);
});
