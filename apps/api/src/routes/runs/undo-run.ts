import { idParamsSchema, type Undone, undoneSchema, undoRunSchema } from '@holdpoint/contract/wire';
import type { FastifyReply } from 'fastify';
import type { App } from '../../deps.ts';
import { placeEngineError } from '../../errors/to-problem.ts';
import { awaitRun } from '../../live/stream.ts';
import { checkRunId } from './read-runs.ts';
import { toRun } from './run-view.ts';

const places = { step_not_found: '/to_step', step_not_settled: '/to_step', external_effects: '/keep_external_effects' };

/** POST /v1/runs/{id}/undo: 200 when the files are back, 202 when a worker has yet to restore them. */
export function undoRunRoute(app: App): void {
  app.post(
    '/v1/runs/:id/undo',
    {
      config: { access: 'runs:write' },
      schema: {
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
      },
    },
    async ({ params, body, deps }, reply) => {
      const runId = checkRunId(params.id);
      const { to_step: toStep, keep_external_effects: keepExternalEffects } = body;
      return awaitUndone(deps, reply, runId, () =>
        placeEngineError(places, () => deps.engine.runs.undo(runId, { toStep, keepExternalEffects })),
      );
    },
  );
}

/** Requests an undo, and answers when a worker has restored the files, or with 202 when that takes long. */
export async function awaitUndone(
  deps: Parameters<typeof awaitRun>[0],
  reply: FastifyReply,
  runId: string,
  undo: () => Promise<string[]>,
): Promise<Undone> {
  let undone: string[] = [];
  const run = await awaitRun(deps, reply, {
    runId,
    async ask() {
      undone = await undo();
    },
    isPending: ({ restore }) => restore === 'due',
  });
  const restored = run.restore !== 'due';
  reply.code(restored ? 200 : 202);
  return { run: toRun(run), undone, restored };
}
