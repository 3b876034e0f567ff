import type { AskedTools } from '@holdpoint/mcp/ask-tools';

/** The tools of a server in its own words. A person accepts the digest, which covers the entry of the server as well. */
export type Described = Pick<AskedTools, 'tools' | 'left_out' | 'digest' | 'server' | 'protocol'> & {
  /** Null: an earlier version accepted it without its entry. */
  entry: object | null;
};

/** A server in a list. */
export interface ListedServer {
  name: string;
  state: string;
  why: string | null;
  /** Whether the operator is logged in at a server with logins. An API does not say. */
  login?: 'needed' | 'present';
  /** Tools and day of the acceptance, when there is one. */
  accepted: { tools: readonly unknown[]; at: string } | null;
  entry: {
    url?: string | undefined;
    command?: string | undefined;
    args?: string[] | undefined;
    toolsets?: string[] | undefined;
  } | null;
}

/** A server that is shown to a person. */
export interface ShownServer {
  before: Described | undefined;
  now: Described;
  /** For `--json`. */
  whole: object;
}

/** The commands look at servers and change them here: in the operator's file, or through an API. */
export interface ServerBackend {
  list(): Promise<{ servers: ListedServer[]; whole: object[] }>;
  /** Writes the entry, and asks the server for its tools. `now` is undefined for a server that asks for a login first. */
  add(name: string, entry: object): Promise<Pick<ShownServer, 'whole'> & { now: Described | undefined }>;
  /** Asks the server for its tools now. */
  look(name: string): Promise<ShownServer>;
  /** @returns the server for `--json`. @throws CliError when it is another than the one that was shown */
  accept(name: string, shown: ShownServer): Promise<object>;
  /** @returns the tenants whose logins stay */
  remove(name: string): Promise<{ logins: readonly string[] }>;
}
