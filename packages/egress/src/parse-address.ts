import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Reads an IP address as the kernel would; an IPv4-mapped IPv6 address becomes the IPv4 address that it leads to.
 *
 * @returns null for what is none: a name, another spelling of a number (`0x7f.1`, `127.1`), an address with a zone (`fe80::1%eth0`)
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (isIP(text) === 4) return ipaddr.IPv4.parse(text);
  if (isIP(text) === 0) return null;
  // ipaddr.js 2.5 takes `::8.8.8.8` for `::ffff:8.8.8.8`, which is another address. URL writes all of it in hexadecimal.
  const spelled = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (!spelled) return null;
  const address = ipaddr.IPv6.parse(spelled);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}
