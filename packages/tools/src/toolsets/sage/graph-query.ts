import type { Json, ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import { GraphError, type GraphPort } from '../../graph/port.ts';
import { failure } from '../../operations/failure.ts';
import { textArgument } from '../../operations/text.ts';
import type { Tool } from '../../tool.ts';
import { settingsOf, timeoutOf } from './settings.ts';

const input = z.strictObject({
  query: textArgument.min(1).max(100_000).describe('The query, in the language of the graph'),
  params: z.record(z.string(), z.unknown()).optional().describe('Values for the parameters of the query'),
  commit: z.string().min(1).max(200).optional().describe('Commit whose graph is asked. Default: the newest'),
});

/** @param graph absent: every query fails */
export function createGraphQuery(graph: GraphPort | undefined): Tool<typeof input> {
  return defineTool({
    name: 'GraphQuery',
    description:
      'Asks the graph of the code: its files and symbols, and how they depend on each other. Returns {results}.',
    version: '1.0.0',
    effect: 'read',
    risk: 'low',
    input,
    output: z.strictObject({ results: z.array(z.unknown()) }),
    touches: () => ({ graph: 'read' }),
    async execute(context, { query, params, commit }): Promise<ToolOutcome> {
      if (graph === undefined) {
        return failure('ENOGRAPH', 'This installation has no graph.', 'The operator sets HOLDPOINT_GRAPH_ENDPOINT.');
      }
      const settings = settingsOf(context.settings);
      const bounds = { timeout_ms: timeoutOf(settings, 'GraphQuery'), max_bytes: settings.limits.maxOutputBytes };
      try {
        const given = params as Record<string, Json> | undefined;
        const results = await graph.query(context, { query, params: given, commit, ...bounds });
        return { status: 'succeeded', value: { results } };
      } catch (error) {
        if (!(error instanceof GraphError)) throw error;
        const { code, message, next } = error;
        return { status: code === 'ETIMEOUT' ? 'timed_out' : 'failed', error: { code, message, next } };
      }
    },
  });
}
