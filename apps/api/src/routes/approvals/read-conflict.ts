import { conflictQuerySchema, conflictViewSchema, idParamsSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { planOf } from './publish-plan.ts';

/** GET /v1/approvals/{id}/conflict: a file in conflict by lines, page by page. */
export function readConflictRoute(app: App): void {
  app.get(
    '/v1/approvals/:id/conflict',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'getConflict',
        summary: 'Read a file in conflict by lines',
        description:
          'The conflicting hunks of the merged file, however large it is, with three lines around each, and what taking the whole file of one side would revert of the other. ' +
          '`{"path": …, "take": "run_lines", "seen": …, "digest": …}` in `resolutions` takes the lines of the run in every hunk and keeps all other edits of both sides; `hunks` chooses for each. ' +
          '409 `conflict_gone`: a later publish has replaced the versions.',
        params: idParamsSchema,
        querystring: conflictQuerySchema,
        response: { 200: conflictViewSchema },
      },
    },
    async ({ params, query: { path, from, limit }, deps }) => {
      const view = await deps.engine.approvals.get(params.id);
      const plan = view.subject === 'publication' ? await planOf(deps, view.approval) : undefined;
      const conflict = plan?.conflicts.find((one) => one.path === path);
      if (conflict?.versions === undefined) {
        const detail = `${params.id} shows no conflict at ${path} that can be resolved`;
        throw new ApiProblem('invalid_request', detail, { errors: [{ pointer: '/path', detail }] });
      }
      const { id } = view.approval;
      const { versions } = conflict;
      const lines = await deps.workspaces.conflict({ runId: view.run.id, versions, page: { from, limit } });
      return { approval_id: id, action_digest: view.digest, path, seen: versions.source?.oid ?? null, ...lines };
    },
  );
}
