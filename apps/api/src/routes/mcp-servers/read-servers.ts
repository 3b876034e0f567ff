import { mcpServerListSchema, mcpServerParamsSchema, mcpServerSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { findServer, readLooks, serversNow } from './ask-server.ts';
import { toView } from './server-view.ts';

const tags = ['mcp'];
const config = { access: 'mcp:read' } as const;

export function readServersRoutes(app: App): void {
  app.get(
    '/v1/mcp/servers',
    {
      config,
      schema: {
        tags,
        operationId: 'listMcpServers',
        summary: 'List the outside MCP servers of the installation',
        description:
          'With what each said when it was last asked, and what a person accepted. Asks no server: POST /v1/mcp/servers/{name}/look does. The texts of tools are those of strangers.',
        response: { 200: mcpServerListSchema },
      },
    },
    async ({ deps }) => {
      const looks = await readLooks(deps);
      return { data: [...serversNow(deps)].map(([name, judged]) => toView(name, judged, looks.get(name))) };
    },
  );

  app.get(
    '/v1/mcp/servers/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'getMcpServer',
        summary: 'Read an outside MCP server',
        params: mcpServerParamsSchema,
        response: { 200: mcpServerSchema },
      },
    },
    async ({ params: { name }, deps }) => {
      const found = findServer(deps, name);
      return toView(name, found, (await readLooks(deps)).get(name));
    },
  );
}
