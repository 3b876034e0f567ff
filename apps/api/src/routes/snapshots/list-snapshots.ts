import { idParamsSchema, listSnapshotsQuerySchema, type Snapshot, snapshotPageSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { showDamaged } from '../../errors/show-damaged.ts';
import { checkRunId } from '../runs/find-run.ts';
import { workspaceOf } from './find-snapshot.ts';

/** GET /v1/runs/{id}/snapshots: the states a client can read, compare, restore and fork from. */
export function listSnapshotsRoute(app: App): void {
  app.get(
    '/v1/runs/:id/snapshots',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['snapshots'],
        operationId: 'listSnapshots',
        summary: 'List the states of the workspace',
        description:
          'A page reads what it shows, however long the run is. The state that the run began with, one for each step that may have changed files, and one for each time that changes of ' +
          'background commands were captured. Undone states are listed too.',
        params: idParamsSchema,
        querystring: listSnapshotsQuerySchema,
        response: { 200: snapshotPageSchema },
      },
    },
    async ({ params, query, deps }) => {
      const run = await deps.engine.runs.get(checkRunId(params.id));
      workspaceOf(run);
      const { snapshots, damaged, next } = await deps.engine.runs.snapshotsPage(run, query);
      const ids = snapshots.flatMap(({ by }) => (by !== null && 'step' in by ? [by.step] : []));
      const numbered = await deps.engine.runs.numbered(run.id, ids);
      const data = snapshots.map(({ by, ...snapshot }): Snapshot => {
        const found = by !== null && 'step' in by ? numbered.get(by.step) : undefined;
        return {
          ...snapshot,
          step: found === undefined ? null : { id: found.step.id, number: found.number, tool: found.step.call.tool },
          task_id: by !== null && 'task' in by ? (by.task ?? null) : null,
        };
      });
      const page = { data, next_cursor: next?.toString() ?? null, has_more: next !== undefined };
      return { ...page, ...showDamaged(deps, damaged) };
    },
  );
}
