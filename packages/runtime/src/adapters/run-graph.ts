import type { CodeGraphError, GraphQuery, Graphs } from '@holdpoint/code-graph';
import { GraphError, type ToolContext } from '@holdpoint/tools';

/** The run, snapshot and permissions of a call's queries to the code graph. */
interface GraphBounds {
  runId: string;
  tenant: string | undefined;
  owner: { uid: number; gid: number };
  /** The snapshot seen by the call. */
  snapshot: string;
  permissions: readonly string[] | undefined;
  signal: AbortSignal;
  onProgress: GraphQuery['onProgress'];
}

/** The code graph of a run, for the run's tools. */
export const runGraph =
  (graphs: Graphs, bounds: GraphBounds): NonNullable<ToolContext['graph']> =>
  async ({ commit = bounds.snapshot, ...request }) => {
    try {
      const { runId, tenant, owner, permissions, signal, onProgress } = bounds;
      const { uid, gid } = owner;
      return await graphs.query({
        ...request,
        runId,
        tenant,
        owner: { uid, gid },
        snapshot: commit,
        permissions,
        signal,
        onProgress,
      });
    } catch (error) {
      throw isQueryError(error) ? asGraphError(error) : error;
    }
  };

const isQueryError = (error: unknown): error is CodeGraphError =>
  error instanceof Error && error.name === 'CodeGraphError';

const asGraphError = (error: CodeGraphError): GraphError =>
  new GraphError(error.code === 'EQUERY' ? 'EGRAPH' : error.code, error.message, error.next, { cause: error });
