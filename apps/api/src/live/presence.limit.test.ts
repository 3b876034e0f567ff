import { EventEmitter } from 'node:events';
import { presenceMs } from '@holdpoint/contract/wire';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Presence } from './presence.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A channel between processes: the real one is in the tests of the routes. The clock is the subject here. */
function openChannel() {
  const subscriber = Object.assign(new EventEmitter(), { subscribe: async () => 1 }) as unknown as Redis;
  const redis = { publish: async (channel: string, text: string) => Number(subscriber.emit('message', channel, text)) };
  return new Presence({ subscriber, redis: redis as unknown as Redis, now: Date.now });
}

const sign = (name: string) => ({
  ...{ caller: { name, kind: 'person' as const, tenant: 'default' }, keyId: `key of ${name}` },
  ...{ approvalId: 'apr_1', page: 'p' },
});
const names = (presence: Presence) => presence.of('default', 'apr_1').viewers.map(({ name }) => name);

test('a page without another sign is gone after its time, and is reported once', async () => {
  const presence = openChannel();
  const reports: string[][] = [];
  presence.listen(() => reports.push(names(presence)));
  await presence.look(sign('ann'));
  await vi.advanceTimersByTimeAsync(presenceMs / 2);
  await presence.look(sign('ann'));
  await presence.look(sign('bob'));
  await vi.advanceTimersByTimeAsync(presenceMs - 1);
  expect(names(presence)).toEqual(['ann', 'bob']);
  await vi.advanceTimersByTimeAsync(200);
  expect(names(presence)).toEqual([]);
  expect(presence.list('default')).toEqual([]);
  expect(reports[0]).toEqual(['ann']);
  expect(reports[1]).toEqual(['ann', 'bob']);
  expect(reports.at(-1)).toEqual([]);
  expect(reports.length).toBeLessThanOrEqual(4);
  expect(vi.getTimerCount()).toBe(0);
});
