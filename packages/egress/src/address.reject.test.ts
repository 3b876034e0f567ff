import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classifyAddress, parseAddressRanges } from './address.ts';
import { parseHost } from './limits.ts';

const allowed: readonly [string, string][] = [
  ['8.8.8.8', '8.8.8.8'],
  ['1.1.1.1', '1.1.1.1'],
  ['172.15.255.255', '172.15.255.255'],
  ['172.32.0.0', '172.32.0.0'],
  ['100.63.255.255', '100.63.255.255'],
  ['100.128.0.0', '100.128.0.0'],
  ['168.63.129.17', '168.63.129.17'],
  ['2606:4700::1111', '2606:4700::1111'],
  ['2A00:1450:0:0::8', '2a00:1450::8'],
  ['::ffff:8.8.8.8', '8.8.8.8'],
];
test.each(allowed)('%s is public', (literal, address) => {
  expect(classifyAddress(literal)).toEqual({ allowed: true, address });
});

const refused: readonly [string, string][] = [
  ['0.0.0.0', 'unspecified'],
  ['0.255.255.255', 'unspecified'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'carrierGradeNat'],
  ['100.127.255.255', 'carrierGradeNat'],
  ['100.100.100.200', 'Alibaba Cloud metadata address'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.255', 'loopback'],
  ['168.63.129.16', 'Azure platform address'],
  ['169.254.169.254', 'linkLocal'],
  ['169.254.0.0', 'linkLocal'],
  ['172.16.0.0', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'Oracle Cloud metadata address'],
  ['192.0.0.8', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['192.88.99.1', 'reserved'],
  ['192.168.255.255', 'private'],
  ['198.18.0.0', 'reserved'],
  ['198.19.255.255', 'reserved'],
  ['198.51.100.7', 'reserved'],
  ['203.0.113.255', 'reserved'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:a9fe:a9fe', 'linkLocal'],
  ['::ffff:168.63.129.16', 'Azure platform address'],
  ['::8.8.8.8', 'outside the global unicast range 2000::/3'],
  ['::ffff:0:8.8.8.8', 'rfc6145'],
  ['64:ff9b::8.8.8.8', 'rfc6052'],
  ['64:ff9b:1::808:808', 'rfc6052'],
  ['64:ff9b:2::1', 'outside the global unicast range 2000::/3'],
  ['100::1', 'discard'],
  ['2001::1', 'teredo'],
  ['2001:2::1', 'benchmarking'],
  ['2001:10::1', 'deprecatedOrchid'],
  ['2001:20::1', 'orchid2'],
  ['2001:1ff::1', 'reserved'],
  ['2001:db8::1', 'reserved'],
  ['2002:808:808::1', '6to4'],
  ['3fff::1', 'reserved'],
  ['2606:4700::5efe:8.8.8.8', 'ISATAP, an IPv4 address inside IPv6'],
  ['2606:4700::200:5efe:a00:1', 'ISATAP, an IPv4 address inside IPv6'],
  ['4000::1', 'outside the global unicast range 2000::/3'],
  ['5f00::1', 'segmentRouting'],
  ['fc00::1', 'uniqueLocal'],
  ['fd00:ec2::254', 'uniqueLocal'],
  ['fe80::1', 'linkLocal'],
  ['fec0::1', 'deprecatedSiteLocal'],
  ['ff02::1', 'multicast'],
  ...[
    ...['', 'localhost', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '[::1]', '8.8.8.8 ', '8.8.8.8\0'],
    ...['2606:4700::1%eth0'],
  ].map((text): [string, string] => [text, 'not an IP address']),
];
// covers C-07
test.each(refused)('%s is refused: %s', (literal, reason) => {
  expect(classifyAddress(literal)).toMatchObject({ allowed: false, reason });
});

const privateRanges: readonly [first: number, bits: number][] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0a80000, 16],
  [0xe0000000, 4],
  [0xf0000000, 4],
  [0xa83f8110, 32],
];
const privateAddress = fc
  .tuple(fc.constantFrom(...privateRanges), fc.integer({ min: 0, max: 0xffffffff }))
  .map(([[first, bits], random]) => (first | (bits === 32 ? 0 : random >>> bits)) >>> 0);
const octets = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
const dotted = (value: number) => octets(value).join('.');
const hex = (value: number) => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
const spellings: readonly ((value: number) => string)[] = [
  dotted,
  (v) => `::ffff:${dotted(v)}`,
  (v) => `::FFFF:${hex(v)}`,
  (v) => `0:0:0:0:0:ffff:${hex(v)}`,
  (v) => `0000:0000:0000:0000:0000:ffff:${dotted(v)}`,
  (v) => `::${dotted(v)}`,
  (v) => `::ffff:0:${dotted(v)}`,
  (v) => `64:ff9b::${dotted(v)}`,
  (v) => `64:ff9b:1::${hex(v)}`,
  (v) => `2002:${hex(v)}::1`,
  (v) => `2001:0:${hex(v)}:0:0:${hex(~v >>> 0)}`,
  (v) => `2001:0:808:808:0:0:${hex(~v >>> 0)}`,
  (v) => `2a00:1450:4001:81b:0:5efe:${hex(v)}`,
  (v) => `fe80::5efe:${dotted(v)}`,
];
test('no private IPv4 address passes in any IPv6 spelling', () => {
  fc.assert(
    fc.property(privateAddress, fc.constantFrom(...spellings), (value, spell) => {
      expect(classifyAddress(spell(value))).toMatchObject({ allowed: false });
    }),
    { numRuns: 2000 },
  );
});

test('every spelling that a URL accepts is the same address', () => {
  const spell: readonly ((value: number) => string)[] = [
    (v) => String(v),
    (v) => `0x${v.toString(16)}`,
    (v) => `0${v.toString(8)}`,
    (v) =>
      octets(v)
        .map((octet) => `0x${octet.toString(16)}`)
        .join('.'),
    (v) =>
      octets(v)
        .map((octet) => `0${octet.toString(8)}`)
        .join('.'),
    (v) => `${v >>> 24}.${v & 0xffffff}`,
    (v) => `${dotted(v)}.`,
    (v) => dotted(v).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  ];
  fc.assert(
    fc.property(privateAddress, fc.constantFrom(...spell), (value, write) => {
      expect(parseHost(write(value))).toEqual({ kind: 'address', host: dotted(value) });
    }),
  );
});

test('ranges cover their addresses in both families', () => {
  const ranges = parseAddressRanges(['10.1.0.0/16', '127.0.0.1', 'fd12::/48']);
  const inside = ['10.1.255.255', '::ffff:10.1.0.1', '127.0.0.1', 'fd12::1'];
  const outside = ['10.2.0.0', '127.0.0.2', 'fd12:0:1::1', '::10.1.0.1', 'example.com', ''];
  expect(inside.filter((address) => ranges.covers(address))).toEqual(inside);
  expect(outside.filter((address) => ranges.covers(address))).toEqual([]);
});

test.each([
  '10.0.0.0/33',
  '10.0.0',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  'fe80::1%eth0/64',
  'localhost',
  '::/129',
  '10.0.0.0/-1',
])('the range %s is refused', (text) => {
  expect(() => parseAddressRanges([text])).toThrow(expect.objectContaining({ code: 'ERULEINVALID' }));
});
