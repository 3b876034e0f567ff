import { expect, test } from 'vitest';
import { createTextBudget, textOf } from './conflict-versions.ts';

test('text is shown, other content is null', () => {
  const budget = createTextBudget();
  expect(textOf(Buffer.from('zwölf\r\n'), budget)).toBe('zwölf\r\n');
  expect(textOf(Buffer.from([0x66, 0xff]), budget)).toBeNull();
  expect(textOf(Buffer.from('a\0b'), budget)).toBeNull();
  expect(textOf(Buffer.alloc(64 * 1024, 'a'), budget)).toHaveLength(64 * 1024);
  expect(textOf(Buffer.alloc(64 * 1024 + 1, 'a'), budget)).toBeNull();
});

test('the texts of all conflicts of a plan are limited', () => {
  const budget = { left: 10 };
  expect(['123456', '12345', '1234', '1'].map((text) => textOf(Buffer.from(text), budget))).toEqual([
    '123456',
    null,
    '1234',
    null,
  ]);
});
