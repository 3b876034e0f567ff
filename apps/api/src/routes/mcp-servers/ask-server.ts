import type { McpServer } from '@holdpoint/contract/wire';
import { askWorker, serverLooks } from '@holdpoint/engine';
import { type JudgedServer, type Look, lookSchema } from '@holdpoint/mcp';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { toView } from './server-view.ts';

/** Milliseconds to wait for the answer of a worker. The worker itself gives a server less. */
const longestMs = 60_000;

/** Has a worker ask a server. @throws ApiProblem `no_worker`, `mcp_server_not_found`, `mcp_server_unusable` */
export async function askServer(deps: ApiDeps, name: string): Promise<Look> {
  const found = findServer(deps, name);
  if (found.state === 'invalid') throw new ApiProblem('mcp_server_unusable', found.why);
  const question = { about: 'mcp_look', body: { name } };
  const answer = await askWorker(deps.redis, question, { timeoutMs: longestMs, signal: deps.closing });
  if (answer !== undefined) return lookSchema.parse(answer);
  throw new ApiProblem('no_worker', `no worker could ask the server ${name} for its tools`);
}

/** The server with a new answer. Without a worker it has none. */
export async function lookAgain(deps: ApiDeps, name: string): Promise<McpServer> {
  const look = await askServer(deps, name).catch((error: unknown) => {
    if (!(error instanceof ApiProblem && error.code === 'no_worker')) throw error;
    return undefined;
  });
  return toView(name, findServer(deps, name), look ?? (await readLooks(deps)).get(name));
}

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
