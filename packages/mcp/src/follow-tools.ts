import type { ToolOutcome } from '@holdpoint/contract';
import { addTools, createRegistry, type LoadedModule, type LoadedToolsets, type Registry } from '@holdpoint/tools';
import type { OAuthHost } from './oauth/port.ts';
import { acceptedServers, type ServerStore } from './server-store.ts';
import { serverTools } from './server-tools.ts';
import { type AcceptedServer, acceptanceDigest } from './servers.ts';

/** The tools of a process: the tools loaded at its start, and the tools of the accepted servers. */
export interface FollowedTools {
  registry: Registry;
  modules(): LoadedModule[];
}

interface Log {
  info(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** Methods that look at the file first. The other methods show the last look. */
const looking = new Set<string | symbol>([
  ...['toolsets', 'list', 'offer', 'inForm', 'versions', 'describe', 'execute', 'preview', 'grants'],
]);

/**
 * Follows the file of servers: a call of the registry after a change of the file has the changed tools.
 * @param oauth for logins at servers, in processes that call tools
 */
export function followTools(
  loaded: LoadedToolsets,
  store: ServerStore,
  { log, oauth }: { log: Log; oauth?: OAuthHost },
): FollowedTools {
  const build = () => {
    const servers = acceptedServers(store.look().servers);
    const additions = serverTools(servers, { confirm: (served) => inForce(store, served), oauth });
    const { toolsets, modules } = addTools(loaded, additions, (reason) => {
      log.error({ event: 'mcp_server_unusable', err: reason }, reason.message);
    });
    return { registry: createRegistry(toolsets, { log }), modules };
  };
  let seen = store.look();
  let current = build();
  const look = () => {
    const now = store.look();
    if (now === seen) return current;
    if (now.problem !== undefined)
      log.error({ event: 'mcp_servers_unreadable', err: now.problem }, now.problem.message);
    const isSame = tools(now.servers) === tools(seen.servers);
    seen = now;
    if (isSame) return current;
    current = build();
    log.info({ event: 'mcp_servers_changed', servers: Object.keys(acceptedServers(now.servers)) }, 'other MCP servers');
    return current;
  };
  const registry = new Proxy(current.registry, {
    get: (_, name) => Reflect.get(looking.has(name) ? look().registry : current.registry, name),
  });
  return { registry, modules: () => look().modules };
}

/** Equal for the same accepted servers. */
const tools = (servers: ReturnType<ServerStore['look']>['servers']): string =>
  Object.entries(acceptedServers(servers))
    .map(([name, server]) => `${name} ${acceptanceDigest(name, server, server.accepted?.digest ?? '')}`)
    .join('\n');

/** Whether a person's acceptance with this pin still counts. */
export function isInForce(store: ServerStore, { name, pin }: { name: string; pin: string }): boolean {
  const { servers, problem } = store.look();
  const found = servers.get(name);
  if (problem !== undefined || found?.state !== 'accepted') return false;
  return acceptanceDigest(name, found.server, found.server.accepted?.digest ?? '') === pin;
}

/** @returns the outcome of a call that is not made, because a person's acceptance of the server counts no more */
function inForce(store: ServerStore, { name, server, accepted }: AcceptedServer): ToolOutcome | undefined {
  const { servers, problem } = store.look();
  if (problem !== undefined) return failed('EMCPCONFIG', `${problem.message} No server is called.`, problem.next);
  const found = servers.get(name);
  if (found === undefined)
    return failed('EMCPCHANGED', `The MCP server ${name} was removed. It is not called.`, without);
  if (found.state !== 'accepted') {
    const why = 'why' in found ? found.why : 'a person has not accepted it';
    return failed('EMCPCHANGED', `The MCP server ${name} is not called: ${why}.`, without);
  }
  const then = acceptanceDigest(name, server, accepted.digest);
  if (acceptanceDigest(name, found.server, found.server.accepted?.digest ?? '') === then) return undefined;
  return failed(
    'EMCPCHANGED',
    `The MCP server ${name} was changed since this call was made. It is not called.`,
    without,
  );
}

const without = 'Continue without the server, or ask an operator to look at it: holdpoint mcp list';

const failed = (code: string, message: string, next: string): ToolOutcome => ({
  status: 'failed',
  error: { code, message, next },
});
