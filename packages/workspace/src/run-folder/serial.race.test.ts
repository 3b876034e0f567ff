import { expect, test } from 'vitest';
import { createSerial } from './serial.ts';

test('tasks of one key run in order, also after a failure; other keys run at once', async () => {
  const serial = createSerial();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = serial('a', async () => {
    await gate.promise;
    order.push('first');
    throw new Error('failed');
  });
  const second = serial('a', async () => order.push('second'));
  await serial('b', async () => order.push('other'));
  gate.resolve();
  await expect(first).rejects.toThrow('failed');
  await second;
  expect(order).toEqual(['other', 'first', 'second']);
});

test('a caller that is aborted leaves the line at once, and its task never runs; the others keep their order', async () => {
  const serial = createSerial();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = serial('a', async () => {
    await gate.promise;
    order.push('first');
  });
  const leaving = new AbortController();
  const second = serial('a', async () => order.push('second'), leaving.signal);
  const third = serial('a', async () => order.push('third'), new AbortController().signal);
  leaving.abort('canceled');
  await expect(second).rejects.toBe('canceled');
  expect(order).toEqual([]);
  gate.resolve();
  await Promise.all([first, third]);
  expect(order).toEqual(['first', 'third']);
});

test('a task that has begun is waited for, whatever its signal says', async () => {
  const serial = createSerial();
  const gate = Promise.withResolvers<string>();
  const aborting = new AbortController();
  const begun = Promise.withResolvers<void>();
  const result = serial(
    'a',
    () => {
      begun.resolve();
      return gate.promise;
    },
    aborting.signal,
  );
  await begun.promise;
  aborting.abort('canceled');
  gate.resolve('done');
  expect(await result).toBe('done');
  await expect(serial('a', async () => 'never', aborting.signal)).rejects.toBe('canceled');
});
