export interface NetworkRequest {
  url: string;
  /** @default 'GET' */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | undefined;
  headers?: Record<string, string> | undefined;
  /** At most 10 MiB, and none with GET and HEAD. */
  body?: string | Buffer | undefined;
  /** Whether to follow a redirect to this URL, within the network's rules. @default yes */
  mayFollow?(url: URL): boolean;
  /** Size limit of the response body; the rest is cut. @default 5 MiB */
  max_bytes?: number | undefined;
  /** For the whole exchange with its redirects. @default 60_000 */
  timeout_ms?: number | undefined;
}

export interface NetworkResponse {
  /** Where the body came from, after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** Whether the body was cut at `max_bytes`. */
  truncated: boolean;
  /** Every requested address, in order. */
  hops: string[];
}

/**
 * The network within the run's allowlist. Fails with an error with `code`, `message` and
 * `next`: `EURLINVALID`, `ENETWORKOFF`, `EHOSTNOTALLOWED`, `EADDRESSREFUSED`, `EREDIRECTREFUSED`, `ETOOLARGE`, `ETIMEOUT` or `ENETWORK`.
 */
export interface Network {
  /** The allowlist: `host`, `host:port` or `*.host:port`. Never empty. */
  hosts: readonly string[];
  /** Whether the run's allowlist names the host. */
  isListed(target: { host: string; port: number }): boolean;
  /**
   * Follows redirects and judges each hop. 303, and 301 and 302 of a POST, become a GET without the body; other redirects repeat the
   * request. Another origin gets no header with a possible secret.
   */
  fetch(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse>;
}
