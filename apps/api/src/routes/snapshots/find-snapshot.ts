import { EngineError, type RunState } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

/** A run's workspace as its log tells. `base` is what the change set is counted from: of a fork, the other run's. */
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
 * What a caller names must be a snapshot of this run; nothing else reaches git.
 * @param asked snapshots by the name of their parameter
 * @throws ApiProblem `snapshot_not_found`
 */
export async function checkSnapshots(
  deps: Pick<ApiDeps, 'engine'>,
  run: RunState,
  asked: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { base, snapshot } = workspaceOf(run);
  const known = new Set([base, snapshot]);
  const named = Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (named.some(([, id]) => !known.has(id))) for await (const id of everySnapshot(deps, run.id)) known.add(id);
  for (const [pointer, id] of named) {
    if (known.has(id)) continue;
    const detail = `the run ${run.id} has no snapshot ${id}`;
    throw new ApiProblem('snapshot_not_found', detail, { errors: [{ pointer, detail }] });
  }
}

async function* everySnapshot({ engine }: Pick<ApiDeps, 'engine'>, runId: string): AsyncGenerator<string> {
  for await (const event of engine.events.all(runId)) {
    if (
      event.type === 'workspace.materialised' ||
      event.type === 'workspace.snapshotted' ||
      event.type === 'workspace.drifted'
    ) {
      yield event.data.snapshot;
    }
  }
}

/** The snapshot that was asked for, or the one the run is at. @throws as `checkSnapshots` */
export async function findSnapshot(
  deps: Pick<ApiDeps, 'engine'>,
  run: RunState,
  asked: string | undefined,
): Promise<string> {
  await checkSnapshots(deps, run, { snapshot: asked });
  return asked ?? workspaceOf(run).snapshot;
}
