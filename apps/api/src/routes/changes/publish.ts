import { idParamsSchema } from '@holdpoint/client/wire/page';
import { type Publication, publicationSchema, publishSchema } from '@holdpoint/client/wire/published';
import { requestDiscarding, requestPublication } from '@holdpoint/engine/commands/steer-run';
import type { RunState } from '@holdpoint/engine/domain/state';
import { newsChannel } from '@holdpoint/engine/log/keys';
import type { FastifyReply } from 'fastify';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { clientGone } from '../../live/stream.ts';
import { findRun } from '../runs/find-run.ts';
import { toRun } from '../runs/run-view.ts';

export function publishRoutes(app: App, deps: ApiDeps): void {
  const response = { 200: publicationSchema, 202: publicationSchema };
  app.post(
    '/v1/runs/:id/publish',
    {
      schema: {
        tags: ['changes'],
        operationId: 'publishRun',
        summary: 'Bring the change set to the source',
        description: '200: published. 202: a worker has not done it yet. 409 `publish_conflict`: nothing was changed.',
        params: idParamsSchema,
        body: publishSchema.nullish(),
        response,
      },
    },
    async ({ params, body }, reply) => {
      const before = await findRun(deps, params.id);
      const snapshot = body?.snapshot;
      const message = body?.message ?? before.header.title;
      const run = await outcomeOf(deps, reply, before.id, () =>
        requestPublication(deps, before.id, { by: operator, message, ...(snapshot === undefined ? {} : { snapshot }) }),
      );
      if (run.publication === 'conflicted') throw conflict(run);
      return reply.code(run.publication === 'published' ? 200 : 202).send(toPublication(run));
    },
  );

  app.post(
    '/v1/runs/:id/discard',
    {
      schema: {
        tags: ['changes'],
        operationId: 'discardRun',
        summary: 'Remove the workspace of a run that has ended',
        params: idParamsSchema,
        response,
      },
    },
    async ({ params }, reply) => {
      const { id } = await findRun(deps, params.id);
      const run = await outcomeOf(deps, reply, id, () => requestDiscarding(deps, id, operator));
      return reply.code(run.publication === 'discarded' ? 200 : 202).send(toPublication(run));
    },
  );
}

/** Asks, and waits until a worker has done it, the time is over, or nobody waits any more. News is heard from before the request on. */
async function outcomeOf(
  deps: ApiDeps,
  reply: FastifyReply,
  runId: string,
  request: () => Promise<void>,
): Promise<RunState> {
  const signal = AbortSignal.any([clientGone(reply), deps.closing]);
  const until = deps.now() + deps.publicationWaitMs;
  const ear = await deps.news.listen(newsChannel(runId));
  try {
    await request();
    for (;;) {
      const run = await findRun(deps, runId);
      const timeoutMs = until - deps.now();
      const pending = run.publication === 'requested' || run.publication === 'discarding';
      if (!pending || timeoutMs <= 0 || signal.aborted) return run;
      await ear.next({ timeoutMs, signal });
    }
  } finally {
    ear.close();
  }
}

function conflict(run: RunState): ApiProblem {
  const { conflicts } = toRun(run).publication;
  const count = conflicts.length === 1 ? 'one conflict' : `${conflicts.length} conflicts`;
  return new ApiProblem('publish_conflict', `the source is as it was: ${count}`, { conflicts });
}

function toPublication(run: RunState): Publication {
  const { status, published } = toRun(run).publication;
  return { run_id: run.id, status, snapshot: run.snapshot ?? null, published };
}
