import { cancelRunSchema, idParamsSchema, resumeRunSchema, runSchema } from '@holdpoint/contract/wire';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { checkRunId, findRun } from './find-run.ts';
import { toRun } from './run-view.ts';

export function steerRunsRoutes(app: App, deps: ApiDeps): void {
  app.post(
    '/v1/runs/:id/cancel',
    {
      schema: {
        tags: ['runs'],
        operationId: 'cancelRun',
        summary: 'Cancel a run',
        description: 'Nothing of it starts any more; what runs is killed. The run is `canceling` until that is done.',
        params: idParamsSchema,
        body: cancelRunSchema.nullish(),
        response: { 200: runSchema },
      },
    },
    async ({ params, body }) => {
      const id = checkRunId(params.id);
      const message = body?.message;
      await deps.engine.runs.cancel(id, { by: operator, ...(message === undefined ? {} : { message }) });
      return toRun(await findRun(deps, id));
    },
  );

  app.post(
    '/v1/runs/:id/pause',
    {
      schema: {
        tags: ['runs'],
        operationId: 'pauseRun',
        summary: 'Pause a run',
        description: 'What runs settles, nothing new starts. Open approvals stay open. Again on a paused run: nothing.',
        params: idParamsSchema,
        response: { 200: runSchema },
      },
    },
    async ({ params }) => {
      const id = checkRunId(params.id);
      await deps.engine.runs.pause(id, operator);
      return toRun(await findRun(deps, id));
    },
  );

  app.post(
    '/v1/runs/:id/resume',
    {
      schema: {
        tags: ['runs'],
        operationId: 'resumeRun',
        summary: 'Resume a paused run',
        description:
          'The paused sub-agents beneath it are resumed as well, also when the run itself only waits for them. Limits count from zero ' +
          'again. 409 `limit_reached_above`: a run above this one has used up its budget; resume that one. 409 `tools_changed`: tools ' +
          'are not what they were when the run began; `accept_new_version` accepts those of today.',
        params: idParamsSchema,
        body: resumeRunSchema.nullish(),
        response: { 200: runSchema },
      },
    },
    async ({ params, body }) => {
      const id = checkRunId(params.id);
      await deps.engine.runs.resume(id, { by: operator, acceptNewVersion: body?.accept_new_version ?? false });
      return toRun(await findRun(deps, id));
    },
  );
}
