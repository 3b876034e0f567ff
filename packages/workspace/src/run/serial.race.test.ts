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
