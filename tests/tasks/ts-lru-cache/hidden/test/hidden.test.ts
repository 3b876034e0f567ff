import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cache, memoize } from '../src/index.ts';

test('falsy values are used and found', () => {
  for (const value of [0, '', false, null, undefined]) {
    const cache = new Cache<string, unknown>({ max: 2 });
    cache.set('a', value).set('b', 2);
    assert.equal(cache.has('a'), true, String(value));
    cache.get('a');
    cache.set('c', 3);
    assert.equal(cache.has('a'), true, String(value));
    assert.equal(cache.has('b'), false);
  }
});

test('has and peek are no use', () => {
  const cache = new Cache<string, number>({ max: 2 });
  cache.set('a', 1).set('b', 2);
  assert.equal(cache.has('a'), true);
  cache.peek('a');
  cache.set('c', 3);
  assert.equal(cache.has('a'), false);
});

test('a new value for a known key evicts nothing, and is a use', () => {
  const evicted: unknown[] = [];
  const cache = new Cache<string, number>({ max: 2, onEvict: (key) => evicted.push(key) });
  cache.set('a', 1).set('b', 2).set('a', 3);
  assert.deepEqual(evicted, []);
  cache.set('c', 4);
  assert.deepEqual(evicted, ['b']);
  assert.equal(cache.get('a'), 3);
});

test('entries that are over do not count', () => {
  let now = 0;
  const cache = new Cache<string, number>({ max: 3, ttl: 10, clock: () => now });
  cache.set('a', 1);
  now = 5;
  cache.set('b', 2);
  now = 12;
  assert.equal(cache.size, 1);
  assert.equal(cache.has('a'), false);
});

test('memoize remembers undefined', () => {
  let calls = 0;
  const none = memoize((_: number) => void (calls += 1), { max: 3 });
  none(1);
  none(1);
  assert.equal(calls, 1);
});
