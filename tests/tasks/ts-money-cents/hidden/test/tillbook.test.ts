import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discounted, format, parseAmount, split, totalOf } from '../src/index.ts';

test('sums are exact', () => {
  assert.equal(totalOf({ lines: [{ name: 'a', price: 10, count: 1 }, { name: 'b', price: 20, count: 1 }] }), 30);
  assert.equal(totalOf({ lines: [{ name: 'a', price: 7, count: 3 }], discount: { percent: 50 } }), 11);
  assert.equal(discounted(105, { percent: 10 }), 95);
  assert.equal(discounted(1005, { percent: 10 }), 905);
  assert.equal(discounted(333, { percent: 33.3 }), 222);
  assert.equal(discounted(100, { amount: 250 }), 0);
});

test('shares add up to the sum, and differ by a cent at most', () => {
  assert.deepEqual(split(100, [1, 1, 1]), [34, 33, 33]);
  assert.deepEqual(split(200, [1, 1, 1]), [67, 67, 66]);
  assert.deepEqual(split(1000, [1, 2, 3]), [167, 333, 500]);
  assert.deepEqual(split(101, [1, 0, 1]), [51, 0, 50]);
  assert.deepEqual(split(1, [1, 3]), [0, 1]);
  assert.deepEqual(split(0, [1, 1]), [0, 0]);
  for (let sum = 0; sum < 300; sum += 7)
    for (const weights of [[1, 1, 1, 1, 1, 1, 1], [3, 5, 7], [1, 100], [0.5, 0.25]])
      assert.equal(split(sum, weights).reduce((a, b) => a + b, 0), sum);
});

test('amounts as text', () => {
  assert.equal(format(450), '€ 4.50');
  assert.equal(format(5), '€ 0.05');
  assert.equal(format(-5), '-€ 0.05');
  assert.equal(format(123456), '€ 1234.56');
  assert.equal(parseAmount('4.5'), 450);
  assert.equal(parseAmount('19.99'), 1999);
  assert.equal(parseAmount('1.15'), 115);
  assert.equal(parseAmount('1234'), 123400);
  assert.equal(parseAmount('-0.05'), -5);
  for (const wrong of ['', 'x', '1.234', '1,50', '1e3', '.5', '1.']) assert.throws(() => parseAmount(wrong), RangeError, wrong);
});

test('what is no whole number of cents is refused', () => {
  assert.throws(() => totalOf({ lines: [{ name: 'a', price: 2.5, count: 1 }] }), RangeError);
  assert.throws(() => split(1.5, [1]), RangeError);
  assert.throws(() => format(0.5), RangeError);
});
