import * as wire from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { showEach } from '../../errors/to-problem.ts';
import { findEval, toEval } from './eval-view.ts';

const tags = ['evals'];
const config = { access: 'runs:read' } as const;

export function readEvalsRoutes(app: App): void {
  app.get(
    '/v1/evals',
    {
      config,
      schema: {
        tags,
        operationId: 'listEvals',
        summary: 'List evaluations, the newest first',
        description: 'The last 1,000 are kept, and all that have not ended.',
        querystring: wire.listEvalsQuerySchema,
        response: { 200: wire.evalListSchema },
      },
    },
    async ({ query: { limit }, deps }) => {
      const found = await deps.evals.store.list(deps.holder.caller.tenant, limit);
      return showEach(deps, found, { idOf: ({ state }) => state.id, show: async ({ state }) => toEval(state) });
    },
  );

  app.get(
    '/v1/evals/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'getEval',
        summary: 'Read an evaluation: its marked runs and their repeats, side by side',
        params: wire.idParamsSchema,
        response: { 200: wire.evalSchema },
      },
    },
    async ({ params: { id }, deps }) => toEval((await findEval(deps, id)).state),
  );
}
