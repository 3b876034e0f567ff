import { type Diff, diffQuerySchema, diffSchema } from '@holdpoint/client/wire/diff';
import { idParamsSchema } from '@holdpoint/client/wire/page';
import type { RunState } from '@holdpoint/engine/domain/state';
import { readWholeLog } from '@holdpoint/engine/log/read-log';
import { WorkspaceError } from '@holdpoint/workspace/errors';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { findRun } from '../runs/find-run.ts';

/** GET /v1/runs/{id}/diff: what changed between two snapshots of a run. */
export function diffRoute(app: App, deps: ApiDeps): void {
  app.get(
    '/v1/runs/:id/diff',
    {
      schema: {
        tags: ['changes'],
        operationId: 'diffRun',
        summary: 'Review what a run changed',
        params: idParamsSchema,
        querystring: diffQuerySchema,
        response: {
          200: {
            description: 'The change set',
            content: { 'application/json': { schema: diffSchema }, 'text/x-patch': { schema: z.string() } },
          },
        },
      },
    },
    async ({ params, query: { from, to, path, format } }, reply) => {
      const run = await findRun(deps, params.id);
      const between = { ...(await snapshotsOf(deps, run, { from, to })), ...(path === undefined ? {} : { path }) };
      if (format === 'patch') {
        const patch = await deps.workspaces.patch({ runId: run.id, ...between });
        return reply.type('text/x-patch; charset=utf-8').send(patch);
      }
      const files = await deps.workspaces.diff({ runId: run.id, ...between });
      const sum = (field: 'additions' | 'deletions') => files.reduce((total, file) => total + file[field], 0);
      const diff: Diff = {
        run_id: run.id,
        from: between.from,
        to: between.to,
        additions: sum('additions'),
        deletions: sum('deletions'),
        files,
      };
      return reply.type('application/json; charset=utf-8').send(diff);
    },
  );
}

/** The two snapshots to compare. What a caller names must be one of this run's. */
async function snapshotsOf(
  deps: Pick<ApiDeps, 'redis'>,
  run: RunState,
  asked: { from: string | undefined; to: string | undefined },
): Promise<{ from: string; to: string }> {
  const { base, snapshot } = run;
  if (base === undefined || snapshot === undefined) {
    throw new ApiProblem('workspace_not_ready', `the run ${run.id} is ${run.status} and has no workspace`);
  }
  if (run.publication === 'discarded') {
    throw new WorkspaceError('EWORKSPACEMISSING', `the workspace of ${run.id} was discarded`);
  }
  const known = new Set([base, snapshot]);
  const named = Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (named.some(([, id]) => !known.has(id))) for await (const id of everySnapshot(deps, run.id)) known.add(id);
  for (const [pointer, id] of named) {
    if (known.has(id)) continue;
    const detail = `the run ${run.id} has no snapshot ${id}`;
    throw new ApiProblem('snapshot_not_found', detail, { errors: [{ pointer, detail }] });
  }
  return { from: asked.from ?? base, to: asked.to ?? snapshot };
}

async function* everySnapshot({ redis }: Pick<ApiDeps, 'redis'>, runId: string): AsyncGenerator<string> {
  for await (const event of readWholeLog(redis, runId)) {
    if (event.type === 'workspace.materialised' || event.type === 'workspace.snapshotted') yield event.data.snapshot;
  }
}
