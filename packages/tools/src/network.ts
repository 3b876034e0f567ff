export interface NetworkRequest {
  url: string;
  /** @default 'GET' */
  method?: 'GET' | 'HEAD';
  headers?: Record<string, string>;
  /** Whether to follow a redirect there, as far as the network allows it. @default yes */
  mayFollow?(url: URL): boolean;
  max_bytes?: number;
  timeout_ms?: number;
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
 * The network within the run's allowlist. Fails with an error that has `code`, `message` and `next`: `EURLINVALID`, `ENETWORKOFF`,
 * `EHOSTNOTALLOWED`, `EADDRESSREFUSED`, `EREDIRECTREFUSED`, `ETOOLARGE`, `ETIMEOUT` or `ENETWORK`.
 */
export interface Network {
  /** The allowlist: `host`, `host:port` or `*.host:port`. Never empty. */
  hosts: readonly string[];
  /** Whether the run's allowlist names the host. */
  isListed(target: { host: string; port: number }): boolean;
  fetch(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse>;
}
