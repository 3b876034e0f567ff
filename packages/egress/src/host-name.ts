import { isIP, isIPv6 } from 'node:net';

/** `host` is lower case, in ASCII (punycode), without a trailing dot; for an address, its canonical spelling without brackets. */
export interface HostName {
  kind: 'name' | 'address';
  host: string;
}

/** The longest name in DNS. */
const maxName = 253;

/**
 * Reads a host as a URL would, so every spelling of a host becomes the same text: `0x7f.1` and `127.0.0.1`, `Bücher.example.` and
 * `xn--bcher-kva.example`.
 *
 * @returns null for any text but a host
 */
export function parseHost(text: string): HostName | null {
  const host = isIPv6(text) ? `[${text}]` : text;
  // URL would end the host at these, or drop them silently
  if (/[\s/?#@\\]/.test(host) || (host.includes(':') && !host.startsWith('['))) return null;
  const parsed = URL.parse(`http://${host}/`)?.hostname;
  if (!parsed) return null;
  if (parsed.startsWith('[')) return { kind: 'address', host: parsed.slice(1, -1) };
  const name = parsed.replace(/\.$/, '');
  if (name === '' || name.length > maxName || name.split('.').some((label) => label === '' || label.length > 63)) {
    return null;
  }
  return { kind: isIP(name) === 0 ? 'name' : 'address', host: name };
}
