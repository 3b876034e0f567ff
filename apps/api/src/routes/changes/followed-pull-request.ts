import { type FollowedPullRequest, followedPullRequestSchema, idParamsSchema } from '@holdpoint/contract/wire';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { findRun } from '../runs/read-runs.ts';

/** The pull request of a run: how Holdpoint saw it last, and a look now. */
export function followedPullRequestRoutes(app: App): void {
  const schema = { tags: ['changes'], params: idParamsSchema };
  app.get(
    '/v1/runs/:id/pull-request',
    {
      config: { access: 'runs:read' },
      schema: {
        ...schema,
        operationId: 'getPullRequest',
        summary: 'Read how the pull request of a run is',
        description:
          'As Holdpoint saw it last: asks no code host. 404 `pull_request_not_found`: no publish has opened one.',
        response: { 200: followedPullRequestSchema },
      },
    },
    async ({ params, deps }) => view(deps, (await findRun(deps, params.id)).id),
  );

  app.post(
    '/v1/runs/:id/pull-request/look',
    {
      config: { access: 'runs:write' },
      schema: {
        ...schema,
        operationId: 'lookAtPullRequest',
        summary: 'Have a worker look at the pull request of a run now',
        description: 'Such as after the value of its token was replaced. The answer is how it was before the look.',
        response: { 202: followedPullRequestSchema },
      },
    },
    async ({ params, deps }, reply) => {
      const { id } = await findRun(deps, params.id);
      const shown = await view(deps, id);
      await deps.pulls.hasten(id, 'asked');
      return reply.code(202).send(shown);
    },
  );
}

/** @throws ApiProblem `pull_request_not_found` */
async function view({ pulls }: ApiDeps, runId: string): Promise<FollowedPullRequest> {
  const found = await pulls.store.find(runId);
  if (found === undefined) {
    throw new ApiProblem('pull_request_not_found', `no publish of ${runId} has opened a pull request`);
  }
  const { state, hookedAt } = found;
  const { provider, repository } = state.target;
  const dueAt = state.status === 'open' ? await pulls.store.dueAt(runId) : undefined;
  return {
    ...{ run_id: runId, status: state.status, commit: state.commit },
    pull_request: { provider, repository, number: state.number, url: state.url },
    rounds: { used: state.rounds, most: pulls.roundsOf(state) },
    ...{ heard: state.heard.length, answers: state.answers.length, problem: state.problem ?? null },
    ...{ looked_at: state.looked_at ?? null, webhooks: hookedAt !== undefined },
    next_look: dueAt === undefined ? null : new Date(dueAt).toISOString(),
  };
}
