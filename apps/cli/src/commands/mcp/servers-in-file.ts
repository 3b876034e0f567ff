import { join } from 'node:path';
import * as mcp from '@holdpoint/mcp';
import type { AskedTools } from '@holdpoint/mcp/ask-tools';
import { loginTenants, operatorLogins } from '@holdpoint/runtime/saved-logins';
import { nameText } from '../../output/index.ts';
import { CliError, commandLine, interruptSignal, type Shell } from '../../shell/index.ts';

/** The operator at the keyboard, who has no key. */
export const by = { name: 'the operator' };

interface AskedServer extends ShownServer {
  asked: AskedTools;
}

/** The servers of the operator's file. Programs that run notice each change. */
export function serversInFile(shell: Shell): ServerBackend {
  const { dataDir, environment } = shell.config;
  const file = mcp.serversFile(dataDir, environment);
  const open = () => named(() => mcp.openServerStore(file, dataDir));
  const looked = new Map<string, AskedServer>();
  return {
    async list() {
      const found = await named(async () => mcp.readServers(file, dataDir));
      const saved = operatorLogins(dataDir);
      const servers = [...found].map(([name, judged]) => listed(name, judged, saved));
      return { servers, whole: servers };
    },
    async add(name, entry) {
      const store = await open();
      if (now(store).has(name)) throw taken(name);
      const server = mcp.serverSchema.parse(entry);
      const asked = await ask(shell, name, server).catch(unlessLogin);
      const written = asked === undefined ? mcp.withOAuth(server) : server;
      if ((await named(() => mcp.addServer(store, { name, server: written, by }))) === 'taken') throw taken(name);
      if (asked === undefined) return { now: undefined, whole: { name, file, needs_login: true } };
      const { now: present, whole } = showing(name, server, asked);
      return { now: present, whole: { name, file, ...whole } };
    },
    async look(name) {
      const server = known(now(await open()), name);
      const shown = showing(name, server, await ask(shell, name, server));
      looked.set(name, shown);
      return shown;
    },
    async accept(name, { now: { digest } }) {
      const store = await open();
      const shown = looked.get(name);
      if (shown === undefined) throw new Error(`${name} was not looked at`);
      const { asked, whole } = shown;
      const outcome = await named(() => mcp.acceptServer(store, { name, asked, digest, by }));
      if (outcome === 'unknown') known(now(store), name);
      if (outcome === 'accepted' || outcome === 'already') return { name, file, ...whole };
      throw new CliError('not_found', `The entry of ${name} was changed while it was looked at.`, {
        next: `Nothing was accepted. Look at it again: ${commandLine('mcp', 'accept', name)}`,
      });
    },
    async remove(name) {
      const store = await open();
      if ((await named(() => mcp.removeServer(store, { name, by }))) === 'unknown') known(now(store), name);
      const has = (tenant: string) => mcp.loginsOf(name, operatorLogins(dataDir, tenant)).length > 0;
      return { logins: loginTenants(dataDir).filter(has) };
    },
  };
}

/** @throws CliError `server_file_invalid` */
function now(store: mcp.ServerStore): ReadonlyMap<string, mcp.JudgedServer> {
  const { servers, problem } = store.look();
  if (problem !== undefined) throw asCliError(problem);
  return servers;
}

/** @returns undefined for the error of a server that asks for a login */
function unlessLogin(error: unknown): undefined {
  const isLogin = error instanceof CliError && error.cause instanceof mcp.McpError && error.cause.code === 'EMCPLOGIN';
  if (!isLogin) throw error;
}

/** @param saved names of logins */
function listed(name: string, judged: mcp.JudgedServer, saved: readonly string[]): ListedServer {
  if (judged.state === 'invalid') return { name, state: 'invalid', why: judged.why, accepted: null, entry: null };
  const { server } = judged;
  const lacks = mcp.lacksLogin(name, server, saved);
  const next = lacks ? `it needs a login: ${commandLine('mcp', 'login', name)}` : null;
  const why = judged.state === 'changed' ? judged.why : next;
  const wants = mcp.isHttp(server) && server.oauth !== undefined;
  const login: Pick<ListedServer, 'login'> = wants ? { login: lacks ? 'needed' : 'present' } : {};
  return { name, state: judged.state, why, ...login, accepted: server.accepted ?? null, entry: mcp.entryOf(server) };
}

function showing(name: string, server: mcp.McpServer, asked: AskedTools): AskedServer {
  const { accepted } = server;
  const then = accepted?.entry && mcp.serverSchema.safeParse(accepted.entry).data;
  const before: Described | undefined = accepted && {
    ...accepted,
    digest: mcp.acceptanceDigest(name, then ?? server, accepted.digest),
    entry: accepted.entry ?? null,
  };
  const present = { ...asked, digest: mcp.acceptanceDigest(name, server, asked.digest), entry: mcp.entryOf(server) };
  return { before, now: present, whole: present, asked };
}

const taken = (name: string): CliError =>
  new CliError('file_exists', `There is a server ${nameText(name)} already.`, {
    next: `Take it out first: ${commandLine('mcp', 'remove', name)}`,
  });

/** @throws CliError `not_found`, `server_file_invalid` */
export function known(servers: ReadonlyMap<string, mcp.JudgedServer>, name: string): mcp.McpServer {
  const found = servers.get(name);
  if (found?.state === 'invalid') throw new CliError('server_file_invalid', found.why);
  if (found !== undefined) return found.server;
  throw new CliError('not_found', `There is no server ${nameText(name)}.`, {
    next: servers.size === 0 ? 'There are none.' : `Known: ${[...servers.keys()].join(', ')}`,
  });
}

async function ask(shell: Shell, name: string, server: mcp.McpServer): Promise<AskedTools> {
  // The library of the protocol and the sandbox are loaded by these commands alone.
  const { askServer } = await import('@holdpoint/runtime/ask-server');
  const { projectDir, ...config } = shell.config;
  const host = { ...config, unpackedBwrap: join(projectDir, '.cache/bubblewrap') };
  using signal = interruptSignal();
  return await named(() => askServer(name, server, host, signal));
}

/** @throws CliError for a mistake of the operator, and for a server that does not answer */
export async function named<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw asCliError(error);
  }
}

function asCliError(error: unknown): unknown {
  if (error instanceof mcp.McpError) {
    const code = error.code === 'EMCPCONFIG' ? 'server_file_invalid' : 'server_failed';
    return new CliError(code, error.message, { next: error.next, cause: error });
  }
  if (error instanceof Error && 'next' in error && !(error instanceof CliError)) {
    return new CliError('server_failed', error.message, { next: String(error.next), cause: error });
  }
  return error;
}

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
