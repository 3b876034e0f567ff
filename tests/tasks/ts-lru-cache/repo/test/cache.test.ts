import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cache, memoize } from '../src/index.ts';

test('keeps at most max entries', () => {
  const cache = new Cache<string, number>({ max: 2 });
  cache.set('a', 1).set('b', 2).set('c', 3);
  assert.equal(cache.get('a'), undefined);
  assert.equal(cache.get('c'), 3);
});

test('what was used stays', () => {
  const cache = new Cache<string, number>({ max: 2 });
  cache.set('a', 1).set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  assert.equal(cache.peek('a'), 1);
  assert.equal(cache.peek('b'), undefined);
});

test('entries end', () => {
  let now = 0;
  const cache = new Cache<string, number>({ max: 2, ttl: 10, clock: () => now });
  cache.set('a', 1);
  now = 10;
  assert.equal(cache.get('a'), undefined);
});

test('memoize works once', () => {
  let calls = 0;
  const twice = memoize((n: number) => ((calls += 1), n * 2), { max: 3 });
  assert.equal(twice(2) + twice(2), 8);
  assert.equal(calls, 1);
});
