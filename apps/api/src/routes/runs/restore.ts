import { idParamsSchema, retryRunSchema, undoneSchema, undoRunSchema } from '@holdpoint/contract/wire';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { placeEngineError } from '../../errors/api-problem.ts';
import { awaitRun } from '../../live/await-run.ts';
import { checkRunId, toRun } from './run.ts';

const retryPlaces = {
  step_not_found: '/from_step',
  step_not_settled: '/from_step',
  external_effects: '/keep_external_effects',
  tools_changed: '/accept_new_version',
};

/** POST /v1/runs/{id}/retry: 200 when the files are restored and the run continues, 202 when a worker has yet to restore them. */
export function retryRunRoute(app: App, deps: ApiDeps): void {
  const retryRunOperation = {
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
  };
  app.post('/v1/runs/:id/retry', { schema: retryRunOperation }, async ({ params, body }, reply) => {
    const runId = checkRunId(params.id);
    const { from_step: fromStep, keep_external_effects, accept_new_version } = retryRunSchema.parse(body ?? {});
    let undone: string[] = [];
    const run = await awaitRun(deps, reply, {
      runId,
      async ask() {
        const request = {
          fromStep,
          ...{ keepExternalEffects: keep_external_effects, acceptNewVersion: accept_new_version, by: operator },
        };
        undone = await placeEngineError(retryPlaces, () => deps.engine.runs.retry(runId, request));
      },
      isPending: ({ restore }) => restore === 'due',
    });
    const restored = run.restore !== 'due';
    return reply.code(restored ? 200 : 202).send({ run: toRun(run), undone, restored });
  });
}

const undoPlaces = {
  step_not_found: '/to_step',
  step_not_settled: '/to_step',
  external_effects: '/keep_external_effects',
};

/** POST /v1/runs/{id}/undo: 200 when the files are back, 202 when a worker has yet to do that. */
export function undoRunRoute(app: App, deps: ApiDeps): void {
  const undoStepsOperation = {
    tags: ['runs'],
    operationId: 'undoSteps',
    summary: 'Undo the last steps of a paused run',
    description:
      'Restores the files as they were after `to_step`. A resumed run continues from there as if the later ' +
      'steps had never been planned. Effects outside of the workspace cannot be undone: 409 `external_effects`, unless ' +
      '`keep_external_effects` says that they stay. 202: recorded; a worker has yet to restore the files.',
    params: idParamsSchema,
    body: undoRunSchema,
    response: { 200: undoneSchema, 202: undoneSchema },
  };
  app.post('/v1/runs/:id/undo', { schema: undoStepsOperation }, async ({ params, body }, reply) => {
    const runId = checkRunId(params.id);
    const { to_step: toStep, keep_external_effects: keepExternalEffects } = body;
    let undone: string[] = [];
    const run = await awaitRun(deps, reply, {
      runId,
      async ask() {
        undone = await placeEngineError(undoPlaces, () =>
          deps.engine.runs.undo(runId, { toStep, keepExternalEffects, by: operator }),
        );
      },
      isPending: ({ restore }) => restore === 'due',
    });
    const restored = run.restore !== 'due';
    return reply.code(restored ? 200 : 202).send({ run: toRun(run), undone, restored });
  });
}
