import { expect, test } from 'vitest';
import { parseAddressRanges } from './address.ts';
import { isListed, parseRules } from './guard.ts';
import { parseHost } from './limits.ts';

const ranges = parseAddressRanges(['127.0.0.1/32', '::1/128']);
const matches = (rule: string, host: string, port: number) =>
  isListed(parseRules([rule], ranges), { host: parseHost(host)?.host ?? '', port });

const table: readonly [rule: string, host: string, port: number, expected: boolean][] = [
  ['example.com', 'example.com', 443, true],
  ['example.com', 'example.com', 80, true],
  ['example.com', 'example.com', 8080, false],
  ['example.com:8080', 'example.com', 8080, true],
  ['example.com:8080', 'example.com', 443, false],
  ['example.com', 'EXAMPLE.com.', 443, true],
  ['Example.COM.:443', 'example.com', 443, true],
  ['example.com', 'www.example.com', 443, false],
  ['example.com', 'example.com.evil.test', 443, false],
  ['example.com', 'notexample.com', 443, false],
  ['*.example.com', 'www.example.com', 443, true],
  ['*.example.com', 'a.b.example.com', 443, true],
  ['*.example.com', 'example.com', 443, false],
  ['*.example.com', 'notexample.com', 443, false],
  ['*.example.com:8443', 'www.example.com', 8443, true],
  ['*.example.com:8443', 'www.example.com', 443, false],
  ['bücher.example', 'xn--bcher-kva.example', 443, true],
  ['xn--bcher-kva.example', 'BÜCHER.example', 443, true],
  ['*.bücher.example', 'www.bücher.example', 443, true],
  ['under_score.example', 'under_score.example', 443, true],
  ['localhost:3000', 'localhost', 3000, true],
  ['127.0.0.1:8080', '127.0.0.1', 8080, true],
  ['127.0.0.1:8080', '0x7f.1', 8080, true],
  ['[::1]:8080', '::1', 8080, true],
  ['[::1]:8080', '[0:0:0:0:0:0:0:1]', 8080, true],
  ['127.0.0.1:8080', '::ffff:127.0.0.1', 8080, false],
];
test.each(table)('%s for %s:%i is %s', (rule, host, port, expected) => {
  expect(matches(rule, host, port)).toBe(expected);
});

const invalid: readonly [rule: string, problem: RegExp, next: RegExp][] = [
  ['https://example.com', /is a URL/, /example\.com:443/],
  ['http://example.com/path', /is a URL/, /example\.com:80/],
  ['example.com/path', /more than a host/, /example\.com:443/],
  ['user@example.com', /more than a host/, /Rules match no paths/],
  ['*', /misplaced `\*`/, /\*\.example\.com/],
  ['*:443', /misplaced `\*`/, /\*\.example\.com/],
  ['api.*.com', /misplaced `\*`/, /\*\.example\.com/],
  ['*example.com', /misplaced `\*`/, /\*\.example\.com/],
  ['example.com:*', /misplaced `\*`/, /Name every port/],
  ['*.com', /top-level domain/, /two labels/],
  ['', /names no host/, /example\.com/],
  [':443', /names no host/, /example\.com/],
  ['example..com', /names no host/, /example\.com/],
  ['example.com:', /the port ""/, /1 to 65535/],
  ['example.com:0', /the port "0"/, /1 to 65535/],
  ['example.com:65536', /the port "65536"/, /1 to 65535/],
  ['example.com:443:443', /the port "443:443"/, /1 to 65535/],
  ['8.8.8.8', /IP address/, /host name/],
  ['2130706434', /IP address/, /allowAddresses/],
  ['*.127.0.0.1', /IP address/, /host name/],
  ['[2606:4700::1111]:443', /IP address/, /host name/],
  ['exa mple.com', /more than a host/, /example\.com/],
];
test.each(invalid)('the rule %j is refused and explained', (rule, problem, next) => {
  expect(() => parseRules([rule], ranges)).toThrow(
    expect.objectContaining({
      code: 'ERULEINVALID',
      retryable: false,
      message: expect.stringMatching(problem),
      next: expect.stringMatching(next),
    }),
  );
});

test.each([
  'a/b',
  'a\tb',
  'a?b',
  'a#b',
  'a@b',
  'a\\b',
  'a:80',
  '%zz',
  'a..b',
  '',
  '.',
  '[::1',
  '[fe80::1%25eth0]',
  `${'a'.repeat(64)}.test`,
])('%j is not a host', (text) => {
  expect(parseHost(text)).toBeNull();
});
