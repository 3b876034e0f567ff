import { type Diff, diffQuerySchema, diffSchema } from '@holdpoint/client/wire/diff';
import { idParamsSchema } from '@holdpoint/client/wire/page';
import { readSpec } from '@holdpoint/engine/log/read-spec';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';
import { given } from '../../schema/given.ts';
import { findRun } from '../runs/find-run.ts';
import { checkSnapshots, workspaceOf } from '../snapshots/find-snapshot.ts';

/** GET /v1/runs/{id}/diff: what changed between two snapshots of a run. */
export function diffRoute(app: App, deps: ApiDeps): void {
  app.get(
    '/v1/runs/:id/diff',
    {
      schema: {
        tags: ['changes'],
        operationId: 'diffRun',
        summary: 'Review what a run changed',
        description:
          'Without what a publish leaves out: `left_out` names it. The patch of a file above 256 MiB is 422 `diff_too_large`.',
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
    async ({ params, query: { from, to, path, format, include_ignored } }, reply) => {
      const run = await findRun(deps, params.id);
      await checkSnapshots(deps, run, { from, to });
      const { base, snapshot } = workspaceOf(run);
      const includeIgnored = include_ignored ?? (await readSpec(deps, run)).publish.include_ignored;
      const between = { from: from ?? base, to: to ?? snapshot, includeIgnored, ...given({ path }) };
      if (format === 'patch') {
        const patch = await deps.workspaces.patch({ runId: run.id, ...between });
        return reply.type('text/x-patch; charset=utf-8').send(patch);
      }
      const { files, left_out } = await deps.workspaces.diff({ runId: run.id, ...between });
      const sum = (field: 'additions' | 'deletions') => files.reduce((total, file) => total + file[field], 0);
      const diff: Diff = {
        run_id: run.id,
        from: between.from,
        to: between.to,
        additions: sum('additions'),
        deletions: sum('deletions'),
        files,
        left_out,
      };
      return reply.type('application/json; charset=utf-8').send(diff);
    },
  );
}
