import { newId, notificationChannel, notificationPattern } from '@holdpoint/engine';
import { connect } from '@holdpoint/engine/redis';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { useTestApi } from '../testing/test-api.ts';
import { RunNotifications } from './run-notifications.ts';

const api = useTestApi();
let connections: ReturnType<typeof connect>;
let notifications: RunNotifications;
beforeAll(async () => {
  connections = connect(api.redis.path, pino({ level: 'silent' }));
  notifications = new RunNotifications(connections.subscriber);
});
afterAll(() => connections.close());

const long = { timeoutMs: 3_600_000, signal: new AbortController().signal };
const notify = (runId: string) => api.engine.redis.publish(notificationChannel(runId), '1');

/** Redis keeps the order of one publisher and one subscriber: with the last notification all earlier ones have arrived. */
async function allDelivered(): Promise<void> {
  const last = newId('run');
  const subscription = await notifications.subscribe(notificationChannel(last));
  await notify(last);
  await subscription.next(long);
  subscription.close();
}

test('a notification from before the first call of next is kept, and returned once', async () => {
  const run = newId('run');
  const subscription = await notifications.subscribe(notificationChannel(run));
  await notify(run);
  await notify(run);
  await allDelivered();
  expect(await subscription.next(long)).toEqual(new Set([run]));
  expect((await subscription.next({ ...long, timeoutMs: 1 })).size).toBe(0);
  subscription.close();
});

test('a subscription is notified of its own run; a pattern, of every run', async () => {
  const [one, other] = [newId('run'), newId('run')];
  const subscriptions = [
    await notifications.subscribe(notificationChannel(one)),
    await notifications.subscribeToAll(notificationPattern),
  ] as const;
  await notify(other);
  await notify(one);
  await notify(other);
  await allDelivered();
  expect(await subscriptions[0].next(long)).toEqual(new Set([one]));
  const notified = await subscriptions[1].next(long);
  expect([notified.has(one), notified.has(other)]).toEqual([true, true]);
  for (const one of subscriptions) one.close();
});

test('an abort ends the wait', async () => {
  const subscription = await notifications.subscribe(notificationChannel(newId('run')));
  const gone = new AbortController();
  const next = subscription.next({ ...long, signal: gone.signal });
  gone.abort();
  expect((await next).size).toBe(0);
  expect((await subscription.next({ ...long, signal: gone.signal })).size).toBe(0);
  subscription.close();
});

test('after a lost connection every subscription is notified, and works again', async () => {
  const run = newId('run');
  const subscription = await notifications.subscribe(notificationChannel(run));
  await api.engine.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await subscription.next(long)).toEqual(new Set([run]));
  await notify(run);
  expect(await subscription.next(long)).toEqual(new Set([run]));
  subscription.close();
});

test('the last close unsubscribes; a new subscription subscribes again', async () => {
  const run = newId('run');
  const listeners = async () =>
    Number(((await api.engine.redis.pubsub('NUMSUB', notificationChannel(run))) as unknown[])[1]);
  const [one, other] = [
    await notifications.subscribe(notificationChannel(run)),
    await notifications.subscribe(notificationChannel(run)),
  ];
  one.close();
  one.close();
  expect(await listeners()).toBe(1);
  other.close();
  const again = await notifications.subscribe(notificationChannel(run));
  expect(await listeners()).toBe(1);
  await notify(run);
  expect(await again.next(long)).toEqual(new Set([run]));
  again.close();
  await vi.waitFor(async () => expect(await listeners()).toBe(0));
});
