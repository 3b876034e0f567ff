import { cancelRunSchema, idParamsSchema, resumeRunSchema, runSchema } from '@holdpoint/contract/wire';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { checkRunId, findRun, toRun } from './run.ts';

export function steerRunsRoutes(app: App, deps: ApiDeps): void {
  const cancelRunOperation = {
    tags: ['runs'],
    operationId: 'cancelRun',
    summary: 'Cancel a run',
    description: 'Kills running steps and drops queued ones. The run is `canceling` until that is done.',
    params: idParamsSchema,
    body: cancelRunSchema.nullish(),
    response: { 200: runSchema },
  };
  app.post('/v1/runs/:id/cancel', { schema: cancelRunOperation }, async ({ params, body }) => {
    const id = checkRunId(params.id);
    const message = body?.message;
    await deps.engine.runs.cancel(id, { by: operator, message });
    return toRun(await findRun(deps, id));
  });

  const pauseRunOperation = {
    tags: ['runs'],
    operationId: 'pauseRun',
    summary: 'Pause a run',
    description:
      'Running steps settle and no new step starts. Open approvals stay open. Pausing a paused run changes nothing.',
    params: idParamsSchema,
    response: { 200: runSchema },
  };
  app.post('/v1/runs/:id/pause', { schema: pauseRunOperation }, async ({ params }) => {
    const id = checkRunId(params.id);
    await deps.engine.runs.pause(id, operator);
    return toRun(await findRun(deps, id));
  });

  const resumeRunOperation = {
    tags: ['runs'],
    operationId: 'resumeRun',
    summary: 'Resume a paused run',
    description:
      'Resumes the paused sub-agents of the run too, also when the run itself only waits for them. Limits count from zero ' +
      'again. 409 `limit_reached_above`: a run above this one has used up its budget; resume that one. 409 `tools_changed`: tools ' +
      'have changed since the run began; `accept_new_version` accepts the new versions.',
    params: idParamsSchema,
    body: resumeRunSchema.nullish(),
    response: { 200: runSchema },
  };
  app.post('/v1/runs/:id/resume', { schema: resumeRunOperation }, async ({ params, body }) => {
    const id = checkRunId(params.id);
    await deps.engine.runs.resume(id, { by: operator, acceptNewVersion: body?.accept_new_version ?? false });
    return toRun(await findRun(deps, id));
  });
}
