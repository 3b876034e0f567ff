import type { Json } from '@holdpoint/contract';
import { z } from 'zod';
import { type GraphPort, ownQueries } from '../../graph/port.ts';
import { askGraph } from '../../operations/ask-graph.ts';
import { textArgument } from '../../text-work/text.ts';
import type { Tool } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { settingsOf, timeoutOf } from './settings.ts';

const input = z.strictObject({
  query: textArgument.min(1).max(100_000).describe('The query, in the language of the graph'),
  params: z.record(z.string(), z.unknown()).optional().describe('Values for the parameters of the query'),
  commit: z.string().min(1).max(200).optional().describe('Commit whose graph is asked. Default: the newest'),
});

/** @param graph absent: the graph of the run */
export function createGraphQuery(graph: GraphPort | undefined): Tool<typeof input> {
  const about =
    'Asks the graph of the code: its files and symbols, and how they depend on each other. Returns {results, cursor?}.';
  return builtInTool({
    name: 'GraphQuery',
    description: graph === undefined ? `${about} ${ownQueries}` : about,
    version: '1.1.0',
    effect: 'read',
    risk: 'low',
    input,
    output: z.strictObject({ results: z.array(z.unknown()), cursor: z.string().optional() }),
    touches: () => ({ graph: 'read' }),
    execute(context, { query, params, commit }) {
      const settings = settingsOf(context.settings);
      const bounds = { timeout_ms: timeoutOf(settings, 'GraphQuery'), max_bytes: settings.limits.maxOutputBytes };
      return askGraph(graph, context, { query, params: params as Record<string, Json> | undefined, commit, ...bounds });
    },
  });
}
