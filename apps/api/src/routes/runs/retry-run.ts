import { idParamsSchema, retryRunSchema, undoneSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { placeEngineError } from '../../errors/to-problem.ts';
import { checkRunId } from './read-runs.ts';
import { awaitUndone } from './undo-run.ts';

const places = {
  step_not_found: '/from_step',
  step_not_settled: '/from_step',
  external_effects: '/keep_external_effects',
  tools_changed: '/accept_new_version',
};

/** POST /v1/runs/{id}/retry: 200 when the files are restored and the run continues, 202 when a worker has yet to restore them. */
export function retryRunRoute(app: App): void {
  app.post(
    '/v1/runs/:id/retry',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['runs'],
        operationId: 'retryRun',
        summary: 'Retry a failed, canceled or paused run from one of its steps',
        description:
          'That step and the later ones are undone and run again, with the files as they were before. The default of `from_step` is the first step ' +
          'of the last turn that did not succeed. Effects outside of the workspace cannot be undone: 409 `external_effects`, unless ' +
          '`keep_external_effects` says that they stay.',
        params: idParamsSchema,
        body: retryRunSchema.nullish(),
        response: { 200: undoneSchema, 202: undoneSchema },
      },
    },
    async ({ params, body, deps }, reply) => {
      const runId = checkRunId(params.id);
      const { from_step: fromStep, keep_external_effects, accept_new_version } = retryRunSchema.parse(body ?? {});
      const request = {
        fromStep,
        ...{ keepExternalEffects: keep_external_effects, acceptNewVersion: accept_new_version },
      };
      return awaitUndone(deps, reply, runId, () =>
        placeEngineError(places, () => deps.engine.runs.retry(runId, request)),
      );
    },
  );
}
