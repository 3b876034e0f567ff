import { markRunSchema } from '@holdpoint/contract';
import { idParamsSchema, runSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { checkRunId, findRun } from './read-runs.ts';
import { toRun } from './run-view.ts';

/** PUT /v1/runs/{id}/mark: the runs of an evaluation are marked ones. */
export function markRunRoute(app: App): void {
  app.put(
    '/v1/runs/:id/mark',
    {
      config: { access: 'evals:write' },
      schema: {
        tags: ['runs'],
        operationId: 'markRun',
        summary: 'Mark a run that has ended as good or bad',
        description: 'Replaces its mark. Marked runs can be repeated by an evaluation.',
        params: idParamsSchema,
        body: markRunSchema,
        response: { 200: runSchema },
      },
    },
    async ({ params, body, deps }) => {
      const id = checkRunId(params.id);
      await deps.engine.runs.mark(id, body);
      return toRun(await findRun(deps, id));
    },
  );
}
