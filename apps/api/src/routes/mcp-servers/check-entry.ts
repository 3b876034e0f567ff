import type { AddMcpServer, PointerError } from '@holdpoint/contract/wire';
import { createGuard, EgressError } from '@holdpoint/egress';
import { hostOf, isHttp, type McpServer, serverSchema } from '@holdpoint/mcp';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { pointerErrors } from '../../schema/validate.ts';
import { isKeyHeader } from './server-view.ts';

const resolveMs = 5000;

/** The entry of a request, with its defaults. @throws ApiProblem `invalid_mcp_server` with every faulty field */
export async function checkEntry(
  { catalog, allowAddresses }: Pick<ApiDeps, 'catalog' | 'allowAddresses'>,
  { server: given }: AddMcpServer,
): Promise<McpServer> {
  const parsed = serverSchema.safeParse(given);
  if (!parsed.success) throw invalid(pointerErrors(parsed.error.issues.map(belowServer), true));
  const server = parsed.data;
  const errors = [...acceptedErrors(server), ...toolsetErrors(catalog.toolsets(), server), ...keyErrors(server)];
  if (errors.length === 0) errors.push(...(await addressErrors(server, allowAddresses)));
  if (errors.length > 0) throw invalid(errors);
  return server;
}

export function invalid(errors: readonly PointerError[]): ApiProblem {
  const [first] = errors;
  return new ApiProblem('invalid_mcp_server', `${first?.pointer ?? ''}: ${first?.detail ?? ''}`, { errors });
}

const belowServer = <Issue extends { path: PropertyKey[] }>(issue: Issue): Issue => ({
  ...issue,
  path: ['server', ...issue.path],
});

const acceptedErrors = ({ accepted }: McpServer): PointerError[] =>
  accepted === undefined
    ? []
    : [{ pointer: '/server/accepted', detail: 'a person accepts a server with POST /v1/mcp/servers/{name}/accept' }];

const toolsetErrors = (known: readonly string[], { toolsets }: McpServer): PointerError[] =>
  toolsets.flatMap((name, index) =>
    known.includes(name)
      ? []
      : [{ pointer: `/server/toolsets/${index}`, detail: `there is no toolset ${name}; there is ${known.join(', ')}` }],
  );

const keyErrors = (server: McpServer): PointerError[] =>
  Object.entries(isHttp(server) ? server.headers : {}).flatMap(([name, value]) =>
    typeof value === 'string' && isKeyHeader(name)
      ? [{ pointer: `/server/headers/${name}`, detail: 'name a secret: {"secret": "NAME", "value": "Bearer {}"}' }]
      : [],
  );

/** Private addresses need the operator's word. A name that does not resolve now may resolve later. */
async function addressErrors(server: McpServer, allowAddresses: readonly string[]): Promise<PointerError[]> {
  if (!isHttp(server)) return [];
  try {
    const { hostname, port, protocol } = new URL(server.url);
    const target = { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    const guard = createGuard({ rules: [hostOf(server)], allowAddresses });
    await guard.check(target, AbortSignal.timeout(resolveMs));
    return [];
  } catch (error) {
    const isRefused = error instanceof EgressError && ['EADDRESSREFUSED', 'ERULEINVALID'].includes(error.code);
    return isRefused ? [{ pointer: '/server/url', detail: error.message }] : [];
  }
}
