import type { NetworkRequest, NetworkResponse } from '@holdpoint/tools';

/** Encrypted texts by name, of a tenant. */
interface LoginStore {
  list(tenant: string): readonly string[];
  read(name: string, at: { tenant: string }): string | undefined;
  write(name: string, text: string, at: { tenant: string }): Promise<void>;
  remove(name: string, at: { tenant: string }): Promise<void>;
  /** @throws an error with `next` when nothing can be written */
  assertOpen(): void;
  /** Runs `work` while no other process works with the login. */
  exclusively<Result>(
    name: string,
    at: { tenant: string; signal: AbortSignal },
    work: () => Promise<Result>,
  ): Promise<Result>;
}

/** The host, as logins need it. */
export interface OAuthHost {
  logins: LoginStore;
  /** Reads a secret now. */
  secret(name: string, at: { tenant: string }): string;
  /** Sends a request to a public host, or to an address that the operator allows. */
  send(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse>;
  /** Milliseconds since the epoch. */
  now(): number;
}
