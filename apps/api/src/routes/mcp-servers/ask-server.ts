import type { McpServer } from '@holdpoint/contract/wire';
import { askWorker } from '@holdpoint/engine';
import { type Look, lookSchema } from '@holdpoint/mcp';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { findServer, readLooks } from './find-server.ts';
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
