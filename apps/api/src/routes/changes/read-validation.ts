import { idParamsSchema, validationSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { findRun } from '../runs/read-runs.ts';

/** GET /v1/runs/{id}/validation: the validator results of the last publish. */
export function readValidationRoute(app: App): void {
  app.get(
    '/v1/runs/:id/validation',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['changes'],
        operationId: 'getValidation',
        summary: 'Read the results of the validators',
        description: 'The validators of the last publish request. They run in order and stop at the first failure.',
        params: idParamsSchema,
        response: { 200: validationSchema },
      },
    },
    async ({ params, deps }) => {
      const run = await findRun(deps, params.id);
      if (run.validated === undefined) throw new ApiProblem('not_validated', `no validator of ${run.id} has run`);
      const { snapshot, passed, results } = run.validated;
      return { run_id: run.id, snapshot, passed, results: await deps.engine.read(results) };
    },
  );
}
