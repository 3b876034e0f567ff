import type ipaddr from 'ipaddr.js';
import { parseAddress } from './parse-address.ts';

/** `address` is the canonical spelling; an IPv4-mapped IPv6 address becomes its IPv4 address. `reason` is a few words, e.g. `loopback`. */
export type AddressVerdict =
  | { allowed: true; address: string }
  | { allowed: false; address: string | null; reason: string };

/** Public by their range, but they answer for the machine's own cloud. */
const platformAddresses: Readonly<Record<string, string>> = {
  '168.63.129.16': 'Azure platform address',
  '100.100.100.200': 'Alibaba Cloud metadata address',
  '192.0.0.192': 'Oracle Cloud metadata address',
};

/**
 * Whether an address belongs to the public internet. What `parseAddress` does not read is refused.
 *
 * A network's own NAT64 prefix cannot be known here: where one leads to private IPv4 addresses, the network must stop it.
 */
export function classifyAddress(literal: string): AddressVerdict {
  const address = parseAddress(literal);
  if (!address) return { allowed: false, address: null, reason: 'not an IP address' };
  const text = address.toString();
  const reason = address.kind() === 'ipv4' ? reason4(address as ipaddr.IPv4) : reason6(address as ipaddr.IPv6);
  return reason === null ? { allowed: true, address: text } : { allowed: false, address: text, reason };
}

function reason4(address: ipaddr.IPv4): string | null {
  const range = address.range();
  return platformAddresses[address.toString()] ?? (range === 'unicast' ? null : range);
}

function reason6(address: ipaddr.IPv6): string | null {
  const range = address.range();
  if (range !== 'unicast') return range;
  const [first = 0, , , , fifth, sixth] = address.parts;
  // Global unicast. All the rest is unassigned, or carries an IPv4 address in some retired way (::127.0.0.1).
  if (first >> 13 !== 0b001) return 'outside the global unicast range 2000::/3';
  if ((fifth === 0 || fifth === 0x200) && sixth === 0x5efe) return 'ISATAP, an IPv4 address inside IPv6';
  return null;
}
