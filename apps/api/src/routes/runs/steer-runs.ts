import { cancelRunSchema, idParamsSchema, resumeRunSchema, runSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { checkOtherModel } from './check-model.ts';
import { checkRunId, findRun } from './read-runs.ts';
import { toRun } from './run-view.ts';

export function steerRunsRoutes(app: App): void {
  app.post(
    '/v1/runs/:id/cancel',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['runs'],
        operationId: 'cancelRun',
        summary: 'Cancel a run',
        description: 'Kills running steps and drops queued ones. The run is `canceling` until that is done.',
        params: idParamsSchema,
        body: cancelRunSchema.nullish(),
        response: { 200: runSchema },
      },
    },
    async ({ params, body, deps }) => {
      const id = checkRunId(params.id);
      const message = body?.message;
      await deps.engine.runs.cancel(id, { message });
      return toRun(await findRun(deps, id));
    },
  );

  app.post(
    '/v1/runs/:id/pause',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['runs'],
        operationId: 'pauseRun',
        summary: 'Pause a run',
        description:
          'Running steps settle and no new step starts. Open approvals stay open. Pausing a paused run changes nothing.',
        params: idParamsSchema,
        response: { 200: runSchema },
      },
    },
    async ({ params, deps }) => {
      const id = checkRunId(params.id);
      await deps.engine.runs.pause(id);
      return toRun(await findRun(deps, id));
    },
  );

  app.post(
    '/v1/runs/:id/resume',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['runs'],
        operationId: 'resumeRun',
        summary: 'Resume a paused run',
        description:
          'Resumes the paused sub-agents of the run too, also when the run itself only waits for them. Limits count from zero ' +
          'again. A run that waits for its model has it asked now. `model` changes the model of the run itself, which has to be ' +
          'paused or waiting for its model. 409 `limit_reached_above`: a run above this one has used up its budget; resume that one. 409 `tools_changed`: tools ' +
          'have changed since the run began; `accept_new_version` accepts the new versions.',
        params: idParamsSchema,
        body: resumeRunSchema.nullish(),
        response: { 200: runSchema },
      },
    },
    async ({ params, body, deps }) => {
      const id = checkRunId(params.id);
      const spec = body?.model === undefined ? undefined : await deps.engine.runs.spec(await findRun(deps, id));
      const model = spec && checkOtherModel(deps, spec, body?.model ?? '');
      await deps.engine.runs.resume(id, { acceptNewVersion: body?.accept_new_version ?? false, model });
      return toRun(await findRun(deps, id));
    },
  );
}
