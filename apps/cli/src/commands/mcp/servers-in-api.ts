import type { Client, McpServer } from '@holdpoint/client';
import { CliError } from '../../shell/index.ts';
import type { ServerBackend, ShownServer } from './server-backend.ts';

/** The servers of a system, through its API. */
export function serversInApi(client: Client): ServerBackend {
  return {
    async list() {
      const servers = await client.listMcpServers();
      return { servers, whole: servers };
    },
    async add(name, entry) {
      const server = await client.addMcpServer({ name, server: { ...entry } });
      return server.failure?.code === 'EMCPLOGIN' ? { now: undefined, whole: server } : shown(server);
    },
    look: async (name) => shown(await client.lookAtMcpServer(name)),
    accept: (name, { now }) => client.acceptMcpServer(name, { digest: now.digest }),
    async remove(name) {
      await client.removeMcpServer(name);
      return { logins: [] };
    },
  };
}

/** @throws CliError `server_failed` with the last words of the server */
function shown(server: McpServer): ShownServer {
  const { name, seen, accepted, entry, failure } = server;
  if (seen === null) {
    const message = failure?.message ?? `No worker could ask the server ${name} for its tools.`;
    throw new CliError('server_failed', message, { next: failure?.next ?? 'Start a worker, and ask it again.' });
  }
  return { before: accepted ?? undefined, now: { ...seen, entry }, whole: server };
}
