import { serverLooks } from '@holdpoint/engine';
import { type JudgedServer, type Look, lookSchema } from '@holdpoint/mcp';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/** The servers of the file now. @throws ApiProblem `mcp_servers_unreadable` */
export function serversNow({ mcpServers }: Pick<ApiDeps, 'mcpServers'>): ReadonlyMap<string, JudgedServer> {
  const { servers, problem } = mcpServers.look();
  if (problem !== undefined) throw new ApiProblem('mcp_servers_unreadable', problem.message);
  return servers;
}

/** @throws ApiProblem `mcp_server_not_found`, `mcp_servers_unreadable` */
export function findServer(deps: Pick<ApiDeps, 'mcpServers'>, name: string): JudgedServer {
  const servers = serversNow(deps);
  const found = servers.get(name);
  if (found !== undefined) return found;
  const known = servers.size === 0 ? 'there are none' : `there is ${[...servers.keys()].slice(0, 20).join(', ')}`;
  throw new ApiProblem(
    'mcp_server_not_found',
    `there is no MCP server ${JSON.stringify(name.slice(0, 100))}; ${known}`,
  );
}

/** The last answers of the servers. An answer of another version of Holdpoint counts as none. */
export async function readLooks({ redis }: Pick<ApiDeps, 'redis'>): Promise<ReadonlyMap<string, Look>> {
  const stored = await serverLooks(redis).all();
  return new Map(
    Object.entries(stored).flatMap(([name, text]): [string, Look][] => {
      const { data } = lookSchema.safeParse(JSON.parse(text));
      return data === undefined ? [] : [[name, data]];
    }),
  );
}
