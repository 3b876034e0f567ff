import { describe, expect, test } from 'vitest';
import { canRead, parseVersionLine } from './embedded-redis.ts';

describe('reads the version line', () => {
  test.each([
    ['Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1', 'redis', '7.0.15'],
    ['Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1', 'valkey', '8.1.1'],
    ['Server v=7.2.5 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1', 'valkey', '7.2.5'],
  ])('%s', (line, engine, version) => {
    expect(parseVersionLine(line)).toEqual({ engine, version });
  });

  test('of another program as none', () => {
    expect(parseVersionLine('redis-cli 7.0.15')).toBeUndefined();
  });
});

test.each([
  ['7.0.15', '7.0.2', true],
  ['7.0.2', '7.0.15', true],
  ['7.2.0', '7.0.15', true],
  ['8.0.0', '7.4.1', true],
  ['7.0.15', '7.2.0', false],
  ['6.9.0', '7.0.0', false],
])('%s reads data of %s: %s', (version, written, expected) => {
  expect(canRead({ engine: 'redis', version }, { engine: 'redis', version: written })).toBe(expected);
});

test('the other engine does not read it, also when newer', () => {
  expect(canRead({ engine: 'valkey', version: '9.0.0' }, { engine: 'redis', version: '7.0.0' })).toBe(false);
});
