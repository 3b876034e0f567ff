import type { Json } from '@holdpoint/contract';
import { z } from 'zod';
import { ownQueries } from '../../graph/port.ts';
import { askGraph } from '../../operations/ask-graph.ts';
import { renderRows } from '../../result-text/table.ts';
import { builtInTool } from '../built-in-tool.ts';

const input = z.strictObject({
  query: z.string().min(1).max(100).describe('What is asked, such as symbols or references'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Parameters of the query'),
  commit: z.string().min(1).max(200).optional().describe('A snapshot of this run. Default: its present one'),
});

const bounds = { timeout_ms: 110_000, max_bytes: 1024 * 1024 };

export const codeGraph = builtInTool({
  name: 'code_graph',
  description: `Asks the graph of the code in the workspace: its files, symbols, imports and references, by syntax, as of the last step. Use it to find where a name is declared or used, or what a file depends on; use grep for text. The result is a table, with the names of its columns first. ${ownQueries}`,
  effect: 'read',
  risk: 'low',
  input,
  touches: () => ({ graph: 'read' }),
  render: renderRows,
  execute: (context, { params, ...asked }) =>
    askGraph(undefined, context, { ...asked, params: params as Record<string, Json>, ...bounds }),
});
