import { expect, test } from 'vitest';
import { isListable, lists, networkRules } from './url-list.ts';

const named = (entry: string, url: string) => lists([entry], new URL(url));

// covers S2-91
test.each([
  ['https://example.com', 'https://example.com/a?b#c', true],
  ['https://example.com/', 'https://example.com/', true],
  ['HTTPS://EXAMPLE.com', 'https://example.com/', true],
  ['https://example.com', 'http://example.com/', false],
  ['https://example.com', 'https://example.com:8443/', false],
  ['https://example.com:443', 'https://example.com/', true],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/x', true],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:80801/x'.replace('80801', '8081'), false],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080@evil.test/', false],
  ['example.com', 'http://example.com/', true],
  ['example.com', 'https://example.com/', true],
  ['example.com', 'https://example.com:8443/', false],
  ['example.com', 'https://example.com.evil.test/', false],
  ['example.com', 'https://notexample.com/', false],
  ['example.com', 'https://www.example.com/', false],
  ['example.com:80', 'http://example.com/', true],
  ['example.com:80', 'https://example.com/', false],
  ['example.com:8443', 'https://example.com:8443/', true],
  ['*.example.com', 'https://a.b.example.com/', true],
  ['*.example.com', 'https://example.com/', false],
  ['*.example.com', 'https://evilexample.com/', false],
  ['https://*.example.com', 'http://a.example.com/', false],
  ['https://*.example.com:8443', 'https://a.example.com:8443/', true],
  ['[::1]:8080', 'http://[::1]:8080/', true],
  ['bücher.example', 'https://xn--bcher-kva.example/', true],
  ['127.1', 'http://127.0.0.1/', true],
  ['example.com', 'ftp://example.com/', false],
])('%s and %s: %s', (entry, url, expected) => {
  expect(isListable(entry)).toBe(true);
  expect(named(entry, url)).toBe(expected);
});

test.each([
  '',
  '*',
  '*.com',
  '*.',
  '*.10.0.0.1',
  'ftp://a.test',
  'https://',
  '//a.test',
  'https://a.test/path',
  'a.test/path',
])('%j is no origin and no host', (entry) => {
  expect(isListable(entry)).toBe(false);
  expect(networkRules([entry])).toEqual([]);
  expect(named(entry, 'https://a.test/path')).toBe(false);
});

test.each(['user@a.test', 'a.test?b', 'a.test#b', 'a b.test', 'a\\b.test', 'a.*.test', 'a.test:99999'])(
  '%j is refused',
  (entry) => expect(isListable(entry)).toBe(false),
);

test('an empty list names nothing', () => {
  expect(lists([], new URL('https://example.com/'))).toBe(false);
});

test('entries become rules of the network', () => {
  const list = [
    'https://a.test',
    'http://b.test',
    'c.test',
    'c.test:90',
    '*.d.test',
    'https://*.e.test:8443',
    '[::1]:1',
  ];
  expect(networkRules(list)).toEqual([
    'a.test:443',
    'b.test:80',
    'c.test',
    'c.test:90',
    '*.d.test',
    '*.e.test:8443',
    '[::1]:1',
  ]);
});
