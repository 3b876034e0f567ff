import { idParamsSchema, type Snapshot, snapshotListSchema } from '@holdpoint/contract/wire';
import type { RunState } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { checkRunId } from '../runs/find-run.ts';
import { type NumberedStep, numberSteps } from '../steps/number-steps.ts';
import { workspaceOf } from './find-snapshot.ts';

/** GET /v1/runs/{id}/snapshots: what can be looked at, compared, restored and forked from. */
export function listSnapshotsRoute(app: App, deps: Pick<ApiDeps, 'engine'>): void {
  app.get(
    '/v1/runs/:id/snapshots',
    {
      schema: {
        tags: ['snapshots'],
        operationId: 'listSnapshots',
        summary: 'List the states of the workspace, oldest first',
        description:
          'The one the run began with, and one for each step that may have changed files. What is after a step that was undone is listed too.',
        params: idParamsSchema,
        response: { 200: snapshotListSchema },
      },
    },
    async ({ params }) => {
      const { run, steps } = await deps.engine.runs.steps(checkRunId(params.id));
      workspaceOf(run);
      return { data: await snapshotsOf(deps, run, numberSteps(steps)) };
    },
  );
}

async function snapshotsOf(
  { engine }: Pick<ApiDeps, 'engine'>,
  run: RunState,
  numbered: readonly NumberedStep[],
): Promise<Snapshot[]> {
  const steps = new Map(numbered.map((one) => [one.step.id, one]));
  const snapshots: Snapshot[] = [];
  for await (const event of engine.events.all(run.id)) {
    if (event.type === 'workspace.materialised') {
      const { snapshot: id, files } = event.data;
      snapshots.push({ id, parent: null, step: null, time: event.time, files_changed: files, current: false });
    } else if (event.type === 'workspace.snapshotted') {
      const { snapshot: id, parent, files_changed } = event.data;
      const found = steps.get(event.step_id);
      const step = found ? { id: found.step.id, number: found.number, tool: found.step.call.tool } : null;
      snapshots.push({ id, parent, step, time: event.time, files_changed, current: false });
    }
  }
  // A step that changed nothing leaves the snapshot that was there; the workspace is at the last of them that counts.
  const current = snapshots.findLast(({ id, step }) => id === run.snapshot && step?.number !== null);
  if (current) current.current = true;
  return snapshots;
}
