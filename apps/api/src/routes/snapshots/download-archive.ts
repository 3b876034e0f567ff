import { archiveQuerySchema, idParamsSchema } from '@holdpoint/contract/wire';
import type { ApiDeps, App } from '../../deps.ts';
import { binarySchema } from '../../schema/binary.ts';
import { findRun } from '../runs/find-run.ts';
import { attachment } from './attachment.ts';
import { findSnapshot, workspaceOf } from './find-snapshot.ts';

const types = { 'tar.gz': 'application/gzip', zip: 'application/zip' } as const;

/** GET /v1/runs/{id}/archive: the files of a snapshot in a single download. */
export function downloadArchiveRoute(app: App): void {
  app.get(
    '/v1/runs/:id/archive',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['snapshots'],
        operationId: 'downloadArchive',
        summary: 'Download the files of a snapshot, or what the run added or changed',
        params: idParamsSchema,
        querystring: archiveQuerySchema,
        response: {
          200: {
            description: 'An archive',
            content: Object.fromEntries(Object.values(types).map((type) => [type, { schema: binarySchema }])),
          },
        },
      },
    },
    async ({ params, query: { snapshot: asked, only, format }, deps }, reply) => {
      const run = await findRun(deps, params.id);
      const snapshot = await findSnapshot(deps, run, asked);
      const from = { runId: run.id, snapshot, format };
      const { base } = workspaceOf(run);
      const archive =
        only === 'all'
          ? await deps.workspaces.archive(from)
          : await deps.workspaces.archive({ ...from, paths: await changedPaths(deps, run.id, { base, snapshot }) });
      const name = `${run.id}-${only === 'all' ? snapshot.slice(0, 10) : 'changed'}.${format}`;
      return reply.headers({ 'content-type': types[format], 'content-disposition': attachment(name) }).send(archive);
    },
  );
}

/** Files missing or different in the base. Compares two lists of ids, much cheaper than a diff. */
async function changedPaths(
  { workspaces }: Pick<ApiDeps, 'workspaces'>,
  runId: string,
  { base, snapshot }: { base: string; snapshot: string },
): Promise<string[]> {
  const before = new Map((await workspaces.files({ runId, snapshot: base })).map((file) => [file.path, file]));
  const now = await workspaces.files({ runId, snapshot });
  return now
    .filter(({ path, mode, oid }) => before.get(path)?.oid !== oid || before.get(path)?.mode !== mode)
    .map(({ path }) => path);
}
