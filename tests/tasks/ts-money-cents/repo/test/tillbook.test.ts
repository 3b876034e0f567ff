import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, split, totalOf } from '../src/index.ts';

test('totals', () => {
  assert.equal(totalOf({ lines: [{ name: 'tea', price: 2.5, count: 2 }] }), 5);
  assert.equal(totalOf({ lines: [{ name: 'tea', price: 2.5, count: 2 }], discount: { percent: 10 } }), 4.5);
  assert.equal(format(4.5), '€ 4.50');
});

test('splits', () => {
  assert.deepEqual(split(9, [1, 1, 1]), [3, 3, 3]);
});
