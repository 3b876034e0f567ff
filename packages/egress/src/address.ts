import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { EgressError } from './errors.ts';

/** `address` is the canonical spelling; an IPv4-mapped IPv6 address becomes its IPv4 address. `reason` is a few words, e.g. `loopback`. */
export type AddressVerdict =
  | { allowed: true; address: string }
  | { allowed: false; address: string | null; reason: string };

/** Addresses in public ranges, but of the cloud around the machine. */
const platformAddresses: Readonly<Record<string, string>> = {
  '168.63.129.16': 'Azure platform address',
  '100.100.100.200': 'Alibaba Cloud metadata address',
  '192.0.0.192': 'Oracle Cloud metadata address',
};

/**
 * Says whether an address belongs to the public internet. The function refuses text unreadable for `parseAddress`.
 *
 * A network's own NAT64 prefix is not known here: the network must block a prefix that leads to private IPv4 addresses.
 */
export function classifyAddress(literal: string): AddressVerdict {
  const address = parseAddress(literal);
  if (!address) return { allowed: false, address: null, reason: 'not an IP address' };
  const text = address.toString();
  const reason = platformAddresses[text] ?? (address instanceof ipaddr.IPv4 ? rangeOf(address) : reason6(address));
  return reason === null ? { allowed: true, address: text } : { allowed: false, address: text, reason };
}

/**
 * Reads an IP address as the kernel would; an IPv4-mapped IPv6 address becomes its IPv4 address.
 *
 * @returns null for a name, another spelling of a number (`0x7f.1`, `127.1`) and an address with a zone (`fe80::1%eth0`)
 */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (isIP(text) === 4) return ipaddr.IPv4.parse(text);
  if (isIP(text) === 0) return null;
  // ipaddr.js 2.5 reads `::8.8.8.8` as `::ffff:8.8.8.8`, another address. URL writes the whole address in hexadecimal.
  const spelled = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (!spelled) return null;
  const address = ipaddr.IPv6.parse(spelled);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function reason6(address: ipaddr.IPv6): string | null {
  const [first = 0, , , , fifth, sixth] = address.parts;
  const range = rangeOf(address);
  if (range !== null) return range;
  // Everything outside global unicast is unassigned, or carries an IPv4 address in a retired way (::127.0.0.1).
  if (first >> 13 !== 0b001) return 'outside the global unicast range 2000::/3';
  return (fifth === 0 || fifth === 0x200) && sixth === 0x5efe ? 'ISATAP, an IPv4 address inside IPv6' : null;
}

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string | null {
  const range = address.range();
  return range === 'unicast' ? null : range;
}

/** Private addresses opened by the operator on purpose. */
export interface AddressRanges {
  covers(address: string): boolean;
}

/** Reads `10.1.0.0/16`, `fd12::/48`, or a single address. Throws `EgressError` ERULEINVALID. */
export function parseAddressRanges(ranges: readonly string[]): AddressRanges {
  const parsed = ranges.map(parseRange);
  return {
    covers(text) {
      const address = parseAddress(text);
      return (
        address !== null && parsed.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
      );
    },
  };
}

function parseRange(text: string) {
  const [, addressText = '', bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(addressText);
  const length = address?.kind() === 'ipv4' ? 32 : 128;
  const bits = Number(bitsText ?? length);
  if (!address || bits > length) {
    throw new EgressError('ERULEINVALID', `${JSON.stringify(text)} is not an address range.`, {
      next: 'Write an address and a prefix length, e.g. 10.1.0.0/16 or fd12::/48.',
    });
  }
  return [address, bits] as const;
}
