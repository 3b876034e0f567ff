/** Bounds of a run's proxy. Sizes in bytes, times in milliseconds. */
export interface ProxyLimits {
  /** Open at the same time. @default 64 */
  connections: number;
  /** A request's headers, and those of a plain answer. @default 16 KiB */
  header_bytes: number;
  /** Until a request's headers are complete. @default 10_000 */
  header_ms: number;
  /** @default 10_000 */
  connect_ms: number;
  /** Without a byte either way. @default 60_000 */
  idle_ms: number;
  /** One connection. @default 600_000 */
  total_ms: number;
  /** All connections of the proxy's life, both ways together. @default 1 GiB */
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
