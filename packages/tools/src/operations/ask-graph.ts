import type { ToolOutcome } from '@holdpoint/contract';
import { GraphError, type GraphPort, type GraphRequest } from '../graph/port.ts';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';

/** @param graph a graph outside of Holdpoint; absent: the graph of the run */
export async function askGraph(
  graph: GraphPort | undefined,
  context: ToolContext,
  request: GraphRequest,
): Promise<ToolOutcome> {
  if (graph === undefined && context.graph === undefined) {
    return failure('ENOGRAPH', 'There is no graph here.', 'Ask a run: its worker has the graph of its snapshots.');
  }
  try {
    const { results, cursor } = (await graph?.query(context, request)) ??
      (await context.graph?.(request)) ?? { results: [] };
    return { status: 'succeeded', value: { results, ...(cursor !== undefined && { cursor }) } };
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    const { code, message, next } = error;
    return { status: code === 'ETIMEOUT' ? 'timed_out' : 'failed', error: { code, message, next } };
  }
}
