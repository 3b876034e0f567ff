import * as wire from '@holdpoint/contract/wire';
import { serverLooks } from '@holdpoint/engine';
import { acceptServer, addServer, digestOfLook, type Look, McpError, removeServer } from '@holdpoint/mcp';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { recordServerChanges } from '../../record-server-changes.ts';
import { askServer, lookAgain } from './ask-server.ts';
import { checkEntry, invalid } from './check-entry.ts';
import { findServer, readLooks, serversNow } from './find-server.ts';
import { lastWords, toView } from './server-view.ts';

const tags = ['mcp'];
const config = { access: 'mcp:write' } as const;
const program =
  'A program of an entry runs in a sandbox alone: on the files of a run, or on an empty folder when it is asked for its tools.';

export function changeServersRoutes(app: App): void {
  app.post(
    '/v1/mcp/servers',
    {
      config,
      schema: {
        tags,
        operationId: 'addMcpServer',
        summary: 'Add an outside MCP server',
        description:
          `No run uses it before it is accepted. A worker asks it for its tools; the answer has them, or its last words. ${program} ` +
          '200 when it is there with this very entry, and nothing was changed. 422 `invalid_mcp_server` names the field, also for a name that is taken.',
        body: wire.addMcpServerSchema,
        response: { 201: wire.mcpServerSchema, 200: wire.mcpServerSchema },
      },
    },
    async ({ body, deps }, reply) => {
      serversNow(deps);
      const { name } = body;
      const server = await checkEntry(deps, body);
      const outcome = await changing(deps, () => addServer(deps.mcpServers, { name, server, by: byOf(deps) }));
      if (outcome === 'taken') {
        const detail = `there is a server ${name} already, with another entry; remove it first, or choose another name`;
        throw invalid([{ pointer: '/name', detail }]);
      }
      reply.header('location', `/v1/mcp/servers/${name}`);
      return reply.code(outcome === 'added' ? 201 : 200).send(await lookAgain(deps, name));
    },
  );

  app.post(
    '/v1/mcp/servers/:name/look',
    {
      config,
      schema: {
        tags,
        operationId: 'lookAtMcpServer',
        summary: 'Ask an outside MCP server for its tools now',
        description: `Changes nothing but \`seen\` and \`failure\`. ${program} 503 \`no_worker\`: no worker answered within a minute.`,
        params: wire.mcpServerParamsSchema,
        response: { 200: wire.mcpServerSchema },
      },
    },
    async ({ params: { name }, deps }) => {
      await askServer(deps, name);
      return view(deps, name);
    },
  );

  app.post(
    '/v1/mcp/servers/:name/accept',
    {
      config,
      schema: {
        tags,
        operationId: 'acceptMcpServer',
        summary: 'Let runs use an outside MCP server, as a person has seen it',
        description:
          'The digest is `seen.digest` of the answer that was looked at: the whole entry and all tools. The server is asked once more: 409 ' +
          '`mcp_server_changed` when its entry or its tools are others now, and nothing is accepted. The first acceptance of a digest stays. New runs get the tools after the answer.',
        params: wire.mcpServerParamsSchema,
        body: wire.acceptMcpServerSchema,
        response: { 200: wire.mcpServerSchema },
      },
    },
    async ({ params: { name }, body: { digest }, deps }) => {
      const before = await view(deps, name);
      if (before.offered && before.accepted?.by && before.accepted.digest === digest) return before;
      await accept(deps, name, digest);
      return view(deps, name);
    },
  );

  app.delete(
    '/v1/mcp/servers/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'removeMcpServer',
        summary: 'Remove an outside MCP server',
        description:
          'After the answer no worker begins a call of its tools. Runs that began with them pause with `tools_changed`.',
        params: wire.mcpServerParamsSchema,
        response: { 200: wire.mcpServerSchema },
      },
    },
    async ({ params: { name }, deps }) => {
      const before = await view(deps, name);
      const outcome = await changing(deps, () => removeServer(deps.mcpServers, { name, by: byOf(deps) }));
      if (outcome === 'unknown') findServer(deps, name);
      await serverLooks(deps.redis).forget(name);
      return before;
    },
  );
}

async function accept(deps: ApiDeps, name: string, digest: string): Promise<void> {
  const look = await askServer(deps, name);
  if (look.failure !== undefined) throw new ApiProblem('mcp_server_unreachable', lastWords(name, look.failure));
  assertSeen(deps, { name, digest, look });
  const { asked } = look;
  if (asked === undefined) throw changed(name);
  const outcome = await changing(deps, () => acceptServer(deps.mcpServers, { name, asked, digest, by: byOf(deps) }));
  if (outcome === 'unknown' || outcome === 'invalid') findServer(deps, name);
  if (outcome !== 'accepted' && outcome !== 'already') throw changed(name);
}

/** @throws ApiProblem `mcp_server_changed` */
function assertSeen(deps: ApiDeps, { name, digest, look }: { name: string; digest: string; look: Look }): void {
  const found = findServer(deps, name);
  const now = found.state === 'invalid' ? undefined : digestOfLook(name, found.server, look);
  if (now !== digest) throw changed(name, now);
}

function changed(name: string, now?: string): ApiProblem {
  const what = now === undefined ? '' : `: its digest is ${now}`;
  return new ApiProblem('mcp_server_changed', `the server ${name} is another than the one that was looked at${what}`);
}

const byOf = ({ holder: { caller } }: ApiDeps) => ({ name: caller.name, kind: caller.kind });

async function view(deps: ApiDeps, name: string): Promise<wire.McpServer> {
  const found = findServer(deps, name);
  return toView(name, found, (await readLooks(deps)).get(name));
}

/** Changes the file, then records the change. @throws ApiProblem `mcp_servers_unreadable` */
async function changing<Outcome>(deps: ApiDeps, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    const outcome = await work();
    await recordServerChanges(deps);
    return outcome;
  } catch (error) {
    if (error instanceof McpError) throw new ApiProblem('mcp_servers_unreadable', error.message);
    throw error;
  }
}
