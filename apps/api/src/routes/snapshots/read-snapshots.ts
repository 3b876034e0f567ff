import * as wire from '@holdpoint/contract/wire';
import { EngineError, type RunState } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, placeEngineError, showDamaged } from '../../errors/to-problem.ts';
import { binarySchema } from '../../schema/binary.ts';
import { checkRunId, findRun } from '../runs/read-runs.ts';
import { attachment } from './attachment.ts';

type Deps = Pick<ApiDeps, 'engine'>;

/** The snapshots of a run's workspace. `base` is where its change set begins; a fork has the base of the other run. */
export interface WorkspaceState {
  base: string;
  snapshot: string;
}

/** @throws EngineError `workspace_not_ready`; WorkspaceError `EWORKSPACEMISSING` */
export function workspaceOf(run: RunState): WorkspaceState {
  const { base, snapshot } = run;
  if (base === undefined || snapshot === undefined) {
    throw new EngineError('workspace_not_ready', `the run ${run.id} is ${run.status} and has no workspace`);
  }
  if (run.publication === 'discarded') {
    throw new WorkspaceError('EWORKSPACEMISSING', `the workspace of ${run.id} was discarded`);
  }
  return { base, snapshot };
}

/**
 * The id of the snapshot named by a parameter: by its own id, by the id or number of a step, or as `source` or `current`. No other text
 * reaches git.
 * @param asked the value of the parameter; undefined yields undefined
 * @param pointer the name of the parameter
 * @throws ApiProblem `snapshot_not_found`; EngineError `step_not_found`, `step_not_settled`
 */
export async function findNamed(
  deps: Deps,
  run: RunState,
  { asked, pointer }: { asked: string | undefined; pointer: string },
): Promise<string | undefined> {
  const { base, snapshot } = workspaceOf(run);
  if (asked === undefined || asked === base || asked === snapshot) return asked;
  if (asked === 'source') return base;
  if (asked === 'current') return snapshot;
  if (isStep(asked)) {
    const places = { step_not_found: pointer, step_not_settled: pointer };
    return placeEngineError(places, () => afterStep(deps, run, asked));
  }
  if (await deps.engine.runs.hasSnapshot(run, asked)) return asked;
  const detail = `the run ${run.id} has no snapshot ${asked}`;
  throw new ApiProblem('snapshot_not_found', detail, { errors: [{ pointer, detail }] });
}

/** The requested snapshot, or the current snapshot. @throws as `findNamed` */
export async function findSnapshot(deps: Deps, run: RunState, asked: string | undefined): Promise<string> {
  return (await findNamed(deps, run, { asked, pointer: 'snapshot' })) ?? workspaceOf(run).snapshot;
}

/** The snapshot restored by an undo to this step. For an undone step, the snapshot after the step. */
async function afterStep({ engine }: Deps, run: RunState, asked: string): Promise<string> {
  const { steps } = await engine.runs.steps(run.id);
  const undone = steps.find(({ id, status }) => id === asked && status === 'undone');
  if (undone?.snapshot !== undefined) return undone.snapshot;
  const to = asked.startsWith('step_') ? asked : Number(asked);
  return (await engine.runs.rewindPoint({ run, steps }, to)).snapshot;
}

const isStep = (asked: string): boolean => /^\d{1,9}$/.test(asked) || asked.startsWith('step_');

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
        params: wire.idParamsSchema,
        querystring: wire.archiveQuerySchema,
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
        params: wire.idParamsSchema,
        querystring: wire.listSnapshotsQuerySchema,
        response: { 200: wire.snapshotPageSchema },
      },
    },
    async ({ params, query, deps }) => {
      const run = await deps.engine.runs.get(checkRunId(params.id));
      workspaceOf(run);
      const { snapshots, damaged, next } = await deps.engine.runs.snapshotsPage(run, query);
      const ids = snapshots.flatMap(({ by }) => (by !== null && 'step' in by ? [by.step] : []));
      const numbered = await deps.engine.runs.numbered(run.id, ids);
      const data = snapshots.map(({ by, ...snapshot }): wire.Snapshot => {
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
