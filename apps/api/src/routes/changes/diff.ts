import * as wire from '@holdpoint/contract/wire';
import { z } from 'zod';
import type { App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { streamJson } from '../../live/stream-json.ts';
import { findRun } from '../runs/read-runs.ts';
import { findNamed, workspaceOf } from '../snapshots/read-snapshots.ts';

/** GET /v1/runs/{id}/diff: the changes between two snapshots of a run. */
export function diffRoute(app: App): void {
  app.get(
    '/v1/runs/:id/diff',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['changes'],
        operationId: 'diffRun',
        summary: 'Review what a run changed',
        description:
          'A moved file is one entry with `moved_from`; in the patch it is a deleted and an added one. A diff does not contain what a publish leaves out; `left_out` lists those paths. Hunks beyond 100,000 lines are `omitted`, or `cut` in the answer for one file. With `stat` there are no hunks, and the change set may be of any size. A patch above 64 MiB, or of a file above 64 MiB, is 422 `diff_too_large`. A file with a lost or damaged object is `unreadable` with the reason, beside the others; a patch with such a file is 500 `workspace_corrupt`.',
        params: wire.idParamsSchema,
        querystring: wire.diffQuerySchema,
        response: {
          200: {
            description: 'The change set',
            content: {
              'application/json': { schema: z.union([wire.diffSchema, wire.diffStatSchema]) },
              'text/x-patch': { schema: z.string() },
            },
          },
        },
      },
    },
    async ({ params, query: { from, to, path, stat, format, include_ignored }, deps }, reply) => {
      const run = await findRun(deps, params.id);
      const { base, snapshot } = workspaceOf(run);
      const includeIgnored = include_ignored ?? (await deps.engine.runs.spec(run)).publish.include_ignored;
      const between = {
        from: (await findNamed(deps, run, { asked: from, pointer: 'from' })) ?? base,
        to: (await findNamed(deps, run, { asked: to, pointer: 'to' })) ?? snapshot,
        includeIgnored,
        path,
      };
      if (format === 'patch' && stat) throw noStatOfPatch();
      if (format === 'patch') {
        const patch = await deps.workspaces.patch({ runId: run.id, ...between });
        // The string schema of the response passes bytes unchanged.
        return reply.type('text/x-patch; charset=utf-8').send(patch as unknown as string);
      }
      const asked = { runId: run.id, ...between };
      const { files, left_out } = await (stat ? deps.workspaces.diffStat(asked) : deps.workspaces.diff(asked));
      const sum = (field: 'additions' | 'deletions') => files.reduce((total, file) => total + file[field], 0);
      const diff: wire.Diff | wire.DiffStat = {
        run_id: run.id,
        dry_run: run.header.dry_run ?? false,
        from: between.from,
        to: between.to,
        additions: sum('additions'),
        deletions: sum('deletions'),
        files,
        left_out,
      };
      // Not validated: to validate and write 60,000 files as a single text takes half a second.
      return reply.type('application/json; charset=utf-8').send(streamJson(diff, 'files'));
    },
  );
}

function noStatOfPatch(): ApiProblem {
  const detail = 'a patch has no form without its lines: leave out stat or format';
  return new ApiProblem('invalid_request', detail, { errors: [{ pointer: 'stat', detail }] });
}
