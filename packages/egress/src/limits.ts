import { isIP, isIPv6 } from 'node:net';
import { EgressError } from './errors.ts';

/** Limits of a fetch, including its redirects. Sizes in bytes, times in milliseconds. */
export interface FetchLimits {
  /** The body after decompression. @default 5 MiB */
  body_bytes: number;
  /** The body before decompression. @default 5 MiB */
  wire_bytes: number;
  /** The response headers. @default 32 KiB */
  header_bytes: number;
  /** To resolve the name and to connect. @default 10_000 */
  connect_ms: number;
  /** From the request to the end of the response headers, for each hop. @default 20_000 */
  first_byte_ms: number;
  /** @default 60_000 */
  total_ms: number;
  /** Redirects followed. @default 5 */
  redirects: number;
}

export const defaultFetchLimits: FetchLimits = {
  body_bytes: 5 * 1024 ** 2,
  wire_bytes: 5 * 1024 ** 2,
  header_bytes: 32 * 1024,
  connect_ms: 10_000,
  first_byte_ms: 20_000,
  total_ms: 60_000,
  redirects: 5,
};

/** Limits of a run's proxy. Sizes in bytes, times in milliseconds. */
export interface ProxyLimits {
  /** Open at the same time. @default 64 */
  connections: number;
  /** Request headers, and response headers of a plain request. @default 16 KiB */
  header_bytes: number;
  /** Until the request headers are complete. @default 10_000 */
  header_ms: number;
  /** To resolve the name and to connect. @default 10_000 */
  connect_ms: number;
  /** Without a byte in either direction. @default 60_000 */
  idle_ms: number;
  /** Lifetime of a connection. @default 600_000 */
  total_ms: number;
  /** All connections of the proxy, both directions together. @default 1 GiB */
  bytes: number;
}

export const defaultProxyLimits: ProxyLimits = {
  connections: 64,
  header_bytes: 16 * 1024,
  header_ms: 10_000,
  connect_ms: 10_000,
  idle_ms: 60_000,
  total_ms: 600_000,
  bytes: 1024 ** 3,
};

/** A timer fires at once when its delay is longer. */
const maxDelayMs = 2 ** 31 - 1;

/** Applies each layer over the defaults. Throws RangeError unless each value is an integer from 1 (`redirects`: 0), times at most 2^31 - 1. */
export function resolveLimits<Limits extends object>(
  defaults: Limits,
  ...layers: readonly (Partial<Limits> | undefined)[]
): Limits {
  const limits = { ...defaults };
  for (const layer of layers) {
    for (const name of Object.keys(defaults) as (keyof Limits & string)[]) {
      const value = layer?.[name];
      if (value === undefined) continue;
      const [min, max] = [name === 'redirects' ? 0 : 1, name.endsWith('_ms') ? maxDelayMs : Number.MAX_SAFE_INTEGER];
      if (!Number.isSafeInteger(value) || Number(value) < min || Number(value) > max) {
        throw new RangeError(`The limit ${name} is ${String(value)}; it must be an integer from ${min} to ${max}.`);
      }
      limits[name] = value;
    }
  }
  return limits;
}

/** Aborts with ETIMEOUT unless the caller disposes of the deadline first. */
export function deadline(ms: number, message: string): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const error = () => new EgressError('ETIMEOUT', message, { next: 'Try again later, or allow more time.' });
  const timer = setTimeout(() => controller.abort(error()), ms);
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

/** `host` is lower case, in ASCII (punycode), without a trailing dot; for an address, its canonical spelling without brackets. */
interface HostName {
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
