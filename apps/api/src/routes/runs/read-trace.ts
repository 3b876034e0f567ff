import { idParamsSchema, readTraceQuerySchema, traceSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { findRun } from './read-runs.ts';

/** GET /v1/runs/{id}/trace: made from the log at each request, so available without a collector. */
export function readTraceRoute(app: App): void {
  app.get(
    '/v1/runs/:id/trace',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['runs'],
        operationId: 'readTrace',
        summary: 'Read the trace of a run',
        description:
          'The spans of the run, with the ids that an export to a collector has. They have no prompt, argument or output. ' +
          'Spans that have not ended are on the last page.',
        params: idParamsSchema,
        querystring: readTraceQuerySchema,
        response: { 200: traceSchema },
      },
    },
    async (request) => {
      const { deps } = request;
      const { id } = await findRun(deps, request.params.id);
      return deps.engine.runs.trace(id, request.query);
    },
  );
}
