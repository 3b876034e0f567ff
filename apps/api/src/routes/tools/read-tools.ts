import * as wire from '@holdpoint/contract/wire';
import { type ToolDefinition, ToolsError } from '@holdpoint/tools';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

export function readToolsRoutes(app: App): void {
  app.get(
    '/v1/tools',
    {
      config: { access: 'tools:read' },
      schema: {
        tags: ['tools'],
        operationId: 'listTools',
        summary: 'List tools',
        querystring: wire.listToolsQuerySchema,
        response: { 200: wire.toolListSchema },
      },
    },
    async ({ query, deps: { catalog } }) => {
      const names = query.toolset === undefined ? catalog.toolsets() : [known(catalog, query.toolset)];
      return { data: names.flatMap((name) => catalog.list(name).map((tool) => toTool(name, tool))) };
    },
  );

  app.get(
    '/v1/toolsets',
    {
      config: { access: 'tools:read' },
      schema: {
        tags: ['tools'],
        operationId: 'listToolsets',
        summary: 'List toolsets',
        response: { 200: wire.toolsetListSchema },
      },
    },
    async ({ deps: { catalog } }) => ({
      data: catalog.toolsets().map((name) => {
        const { rules, asks } = catalog.rules(name, undefined);
        return { name, tools: catalog.list(name).length, rules: [...rules], asks: [...asks] };
      }),
    }),
  );

  app.get(
    '/v1/toolsets/:name',
    {
      config: { access: 'tools:read' },
      schema: {
        tags: ['tools'],
        operationId: 'getToolset',
        summary: 'Read a toolset in the shape that a model provider or an MCP client wants',
        params: wire.toolsetParamsSchema,
        querystring: wire.toolsetQuerySchema,
        response: { 200: wire.toolsetSchema },
      },
    },
    async ({ params, query: { format }, deps: { catalog } }) => {
      const name = known(catalog, params.name);
      const shown =
        format === undefined ? catalog.list(name).map((tool) => toTool(name, tool)) : inForm(catalog, name, format);
      return { name, format: format ?? 'holdpoint', tools: shapes.parse(shown) };
    },
  );
}

const shapes = z.array(z.record(z.string(), z.json()));

function inForm(catalog: ApiDeps['catalog'], toolset: string, format: string): readonly unknown[] {
  try {
    return catalog.inForm(toolset, format);
  } catch (error) {
    if (!(error instanceof ToolsError && error.code === 'EUNKNOWNFORM')) throw error;
    const { message: detail, next } = error;
    throw new ApiProblem('invalid_request', detail, { errors: [{ pointer: '/format', detail }], next });
  }
}

function known(catalog: ApiDeps['catalog'], name: string): string {
  const names = catalog.toolsets();
  if (names.includes(name)) return name;
  throw new ApiProblem('toolset_not_found', `there is no toolset ${name}; there is ${names.join(', ')}`);
}

const jsonObject = z.record(z.string(), z.json());

const toTool = (
  toolset: string,
  { gate, version, input_schema, output_schema, ...tool }: ToolDefinition,
): wire.Tool => ({
  toolset,
  ...tool,
  gate: gate ?? null,
  version: version ?? null,
  input_schema: jsonObject.parse(input_schema),
  output_schema: output_schema === undefined ? null : jsonObject.parse(output_schema),
});
