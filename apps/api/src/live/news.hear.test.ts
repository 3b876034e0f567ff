import { newId, newsChannel, newsPattern } from '@holdpoint/engine';
import { connect } from '@holdpoint/engine/redis';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { News } from './news.ts';

let api: TestApi;
let connections: ReturnType<typeof connect>;
let news: News;
beforeAll(async () => {
  api = await startTestApi();
  connections = connect(api.redis.path, pino({ level: 'silent' }));
  news = new News(connections.subscriber);
});
afterAll(async () => {
  await connections.close();
  await api.stop();
});

const long = { timeoutMs: 3_600_000, signal: new AbortController().signal };
const tell = (runId: string) => api.engine.redis.publish(newsChannel(runId), '1');

/** One connection says it, one connection hears it: when the last news has arrived, so has all that was said before. */
async function everythingHeard(): Promise<void> {
  const last = newId('run');
  const ear = await news.listen(newsChannel(last));
  await tell(last);
  await ear.next(long);
  ear.close();
}

test('news from before the first question is kept, and told once', async () => {
  const run = newId('run');
  const ear = await news.listen(newsChannel(run));
  await tell(run);
  await tell(run);
  await everythingHeard();
  expect(await ear.next(long)).toEqual(new Set([run]));
  expect((await ear.next({ ...long, timeoutMs: 1 })).size).toBe(0);
  ear.close();
});

test('an ear hears of its own run only; one for all, of each', async () => {
  const [one, other] = [newId('run'), newId('run')];
  const ears = [await news.listen(newsChannel(one)), await news.listenToAll(newsPattern)] as const;
  await tell(other);
  await tell(one);
  await tell(other);
  await everythingHeard();
  expect(await ears[0].next(long)).toEqual(new Set([one]));
  const heard = await ears[1].next(long);
  expect([heard.has(one), heard.has(other)]).toEqual([true, true]);
  for (const ear of ears) ear.close();
});

test('whoever waits is woken by an abort', async () => {
  const ear = await news.listen(newsChannel(newId('run')));
  const gone = new AbortController();
  const next = ear.next({ ...long, signal: gone.signal });
  gone.abort();
  expect((await next).size).toBe(0);
  expect((await ear.next({ ...long, signal: gone.signal })).size).toBe(0);
  ear.close();
});

test('after the connection was lost everybody looks, and hears again', async () => {
  const run = newId('run');
  const ear = await news.listen(newsChannel(run));
  await api.engine.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await ear.next(long)).toEqual(new Set([run]));
  await tell(run);
  expect(await ear.next(long)).toEqual(new Set([run]));
  ear.close();
});

test('the last one to leave ends the subscription; a new one begins it again', async () => {
  const run = newId('run');
  const listeners = async () => Number(((await api.engine.redis.pubsub('NUMSUB', newsChannel(run))) as unknown[])[1]);
  const [one, other] = [await news.listen(newsChannel(run)), await news.listen(newsChannel(run))];
  one.close();
  one.close();
  expect(await listeners()).toBe(1);
  other.close();
  const again = await news.listen(newsChannel(run));
  expect(await listeners()).toBe(1);
  await tell(run);
  expect(await again.next(long)).toEqual(new Set([run]));
  again.close();
  await vi.waitFor(async () => expect(await listeners()).toBe(0));
});
