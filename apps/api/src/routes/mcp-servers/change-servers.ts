import * as wire from '@holdpoint/contract/wire';
import { createGuard, EgressError } from '@holdpoint/egress';
import { serverLooks } from '@holdpoint/engine';
import * as mcp from '@holdpoint/mcp';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { recordServerChanges } from '../../record-server-changes.ts';
import { pointerErrors } from '../../schema/validate.ts';
import { askServer, findServer, lookAgain, readLooks, serversNow } from './ask-server.ts';
import { isKeyHeader, lastWords, toView } from './server-view.ts';

const resolveMs = 5000;

/** The entry of a request, with its defaults. @throws ApiProblem `invalid_mcp_server` with every faulty field */
async function checkEntry(
  { catalog, allowAddresses }: Pick<ApiDeps, 'catalog' | 'allowAddresses'>,
  { server: given }: wire.AddMcpServer,
): Promise<mcp.McpServer> {
  const parsed = mcp.serverSchema.safeParse(given);
  if (!parsed.success) throw invalid(pointerErrors(parsed.error.issues.map(belowServer), true));
  const server = parsed.data;
  const errors = [...acceptedErrors(server), ...toolsetErrors(catalog.toolsets(), server), ...keyErrors(server)];
  if (errors.length === 0) errors.push(...(await addressErrors(server, allowAddresses)));
  if (errors.length > 0) throw invalid(errors);
  return server;
}

function invalid(errors: readonly wire.PointerError[]): ApiProblem {
  const [first] = errors;
  return new ApiProblem('invalid_mcp_server', `${first?.pointer ?? ''}: ${first?.detail ?? ''}`, { errors });
}

const belowServer = <Issue extends { path: PropertyKey[] }>(issue: Issue): Issue => ({
  ...issue,
  path: ['server', ...issue.path],
});

const acceptedErrors = ({ accepted }: mcp.McpServer): wire.PointerError[] =>
  accepted === undefined
    ? []
    : [{ pointer: '/server/accepted', detail: 'a person accepts a server with POST /v1/mcp/servers/{name}/accept' }];

const toolsetErrors = (known: readonly string[], { toolsets }: mcp.McpServer): wire.PointerError[] =>
  toolsets.flatMap((name, index) =>
    known.includes(name)
      ? []
      : [{ pointer: `/server/toolsets/${index}`, detail: `there is no toolset ${name}; there is ${known.join(', ')}` }],
  );

const keyErrors = (server: mcp.McpServer): wire.PointerError[] =>
  Object.entries(mcp.isHttp(server) ? server.headers : {}).flatMap(([name, value]) =>
    typeof value === 'string' && isKeyHeader(name)
      ? [{ pointer: `/server/headers/${name}`, detail: 'name a secret: {"secret": "NAME", "value": "Bearer {}"}' }]
      : [],
  );

/** Private addresses need the operator's word. A name that does not resolve now may resolve later. */
async function addressErrors(server: mcp.McpServer, allowAddresses: readonly string[]): Promise<wire.PointerError[]> {
  if (!mcp.isHttp(server)) return [];
  try {
    const { hostname, port, protocol } = new URL(server.url);
    const target = { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    const guard = createGuard({ rules: [mcp.hostOf(server)], allowAddresses });
    await guard.check(target, AbortSignal.timeout(resolveMs));
    return [];
  } catch (error) {
    const isRefused = error instanceof EgressError && ['EADDRESSREFUSED', 'ERULEINVALID'].includes(error.code);
    return isRefused ? [{ pointer: '/server/url', detail: error.message }] : [];
  }
}

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
      const outcome = await changing(deps, () => mcp.addServer(deps.mcpServers, { name, server, by: byOf(deps) }));
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
      const outcome = await changing(deps, () => mcp.removeServer(deps.mcpServers, { name, by: byOf(deps) }));
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
  const outcome = await changing(deps, () =>
    mcp.acceptServer(deps.mcpServers, { name, asked, digest, by: byOf(deps) }),
  );
  if (outcome === 'unknown' || outcome === 'invalid') findServer(deps, name);
  if (outcome !== 'accepted' && outcome !== 'already') throw changed(name);
}

/** @throws ApiProblem `mcp_server_changed` */
function assertSeen(deps: ApiDeps, { name, digest, look }: { name: string; digest: string; look: mcp.Look }): void {
  const found = findServer(deps, name);
  const now = found.state === 'invalid' ? undefined : mcp.digestOfLook(name, found.server, look);
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
    if (error instanceof mcp.McpError) throw new ApiProblem('mcp_servers_unreadable', error.message);
    throw error;
  }
}
