import { expect, test } from 'vitest';
import { WaitingEvents } from './waiting-events.ts';

const page = (of: WaitingEvents) => Array.from({ length: of.pageSize() }, (_, index) => index);

test('readers that take nothing share a bound, and each of them still gets one event', async () => {
  const waiting = new WaitingEvents();
  const readers = [];
  const sizes: number[] = [];
  for (let reader = 0; reader < 1000; reader++) {
    const events = page(waiting);
    sizes.push(events.length);
    const reading = waiting.each(events);
    expect((await reading.next()).value).toBe(0);
    readers.push(reading);
  }
  expect([sizes[0], sizes.at(-1)]).toEqual([50, 1]);
  expect(waiting.count).toBeLessThan(2000 + 1000);
  // A single reader continues, the other readers leave.
  const [first, ...others] = readers;
  const read: number[] = [];
  for await (const event of first ?? []) read.push(event);
  expect(read).toEqual(Array.from({ length: 49 }, (_, index) => index + 1));
  await Promise.all(others.map((reading) => reading.return(undefined)));
  expect([waiting.count, waiting.pageSize()]).toEqual([0, 50]);
});
