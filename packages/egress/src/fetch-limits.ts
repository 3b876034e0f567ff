/** Bounds of one fetch, its redirects included. Sizes in bytes, times in milliseconds. */
export interface FetchLimits {
  /** The body after decompression. @default 5 MiB */
  body_bytes: number;
  /** The body as it travels. @default 5 MiB */
  wire_bytes: number;
  /** The answer's headers. @default 32 KiB */
  header_bytes: number;
  /** @default 10_000 */
  connect_ms: number;
  /** From the request to the end of the answer's headers, for each hop. @default 20_000 */
  first_byte_ms: number;
  /** @default 60_000 */
  total_ms: number;
  /** Redirects followed. @default 5 */
  redirects: number;
}

const MIB = 1024 * 1024;

export const defaultFetchLimits: FetchLimits = {
  body_bytes: 5 * MIB,
  wire_bytes: 5 * MIB,
  header_bytes: 32 * 1024,
  connect_ms: 10_000,
  first_byte_ms: 20_000,
  total_ms: 60_000,
  redirects: 5,
};
