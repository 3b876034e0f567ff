import { EngineError, type RunState } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { placeEngineError } from '../../errors/placed-error.ts';

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
