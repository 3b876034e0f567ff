import { fileListSchema, idParamsSchema, listFilesQuerySchema, readFileQuerySchema } from '@holdpoint/contract/wire';
import { WorkspaceError } from '@holdpoint/workspace';
import type { App } from '../../deps.ts';
import { PlacedError } from '../../errors/to-problem.ts';
import { streamJson } from '../../live/stream-json.ts';
import { binarySchema } from '../../schema/binary.ts';
import { findRun } from '../runs/read-runs.ts';
import { attachment } from './attachment.ts';
import { findSnapshot } from './read-snapshots.ts';

export function readFilesRoutes(app: App): void {
  app.get(
    '/v1/runs/:id/files',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['snapshots'],
        operationId: 'listFiles',
        summary: 'List the files of a snapshot',
        params: idParamsSchema,
        querystring: listFilesQuerySchema,
        response: { 200: fileListSchema },
      },
    },
    async ({ params, query: { snapshot: asked, path }, deps }, reply) => {
      const run = await findRun(deps, params.id);
      const snapshot = await findSnapshot(deps, run, asked);
      const wanted = { runId: run.id, snapshot, path };
      const [data, unknown] = await Promise.all([deps.workspaces.files(wanted), deps.workspaces.unknown(wanted)]);
      return reply.type('application/json; charset=utf-8').send(streamJson({ data, unknown }, 'data'));
    },
  );

  app.get(
    '/v1/runs/:id/files/content',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['snapshots'],
        operationId: 'readFile',
        summary: 'Read a file of a snapshot',
        description:
          'The unchanged bytes; for a link, its target. Content that no snapshot can hold is 409 `content_unknown`.',
        params: idParamsSchema,
        querystring: readFileQuerySchema,
        response: {
          200: { description: 'The bytes', content: { 'application/octet-stream': { schema: binarySchema } } },
        },
      },
    },
    async ({ params, query: { snapshot: asked, path }, deps }, reply) => {
      const run = await findRun(deps, params.id);
      const snapshot = await findSnapshot(deps, run, asked);
      const file = await deps.workspaces.read({ runId: run.id, snapshot, path }).catch((error: unknown) => {
        if (!(error instanceof WorkspaceError) || error.code !== 'EPATHMISSING') throw error;
        throw new PlacedError(error, [{ pointer: 'path', detail: error.message }]);
      });
      return reply
        .headers({
          'content-type': 'application/octet-stream',
          'content-length': file.bytes,
          'content-disposition': attachment(path.split('/').at(-1) ?? path),
        })
        .send(file.content);
    },
  );
}
