import type { RunSpec, ToolOutcome } from '@holdpoint/contract';
import { forbiddenPaths } from '@holdpoint/policy';
import type { WorkerDeps } from '../deps.ts';
import { type RunState, type StepState, scopeOf } from '../domain/index.ts';
import { readError } from '../jobs/index.ts';
import { readSpec } from '../log/index.ts';

type Ended = Exclude<ToolOutcome, { status: 'deferred' }>;
type Taken = Awaited<ReturnType<WorkerDeps['workspaces']['snapshot']>>;

/**
 * Takes the snapshot of a call that ended. A call that wrote a secret's value into a file fails, and its changes are dropped before any of
 * them is stored. Background commands may have read the file, so they end with the call.
 * @throws ForbiddenChange when the call changed a protected path. Nothing is stored then
 */
export async function captureCall(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  outcome: Ended,
): Promise<{ outcome: Ended; snapshot: Taken }> {
  const { runId, epoch, parent } = { runId: run.id, epoch: run.lease, parent: run.snapshot ?? '' };
  const spec = await readSpec(deps, run);
  try {
    const snapshot = await deps.workspaces.snapshot({
      ...{ runId, epoch, parent, scope: scopeOf(run, spec), forbids: forbiddenPaths(spec) },
      message: snapshotMessage(spec, step),
      ...(outcome.touched === undefined ? {} : { paths: outcome.touched }),
    });
    return { outcome, snapshot };
  } catch (error) {
    const { problem } = readError(error);
    if (problem.code !== secretWritten) throw error;
    await dropChanges(deps, run);
    const { value, capabilities } = outcome;
    const failed: Ended = {
      status: 'failed',
      error: { ...problem, message: dropped(problem.message) },
      value,
      capabilities,
    };
    return { outcome: failed, snapshot: { snapshot: parent, files_changed: 0, skipped: 0 } };
  }
}

export const secretWritten = 'ESECRETWRITTEN';

export const dropped = (message: string): string => `${message} The changes were dropped.`;

/** Restores the tree to the run's snapshot. Kills all writers first. */
export async function dropChanges(deps: WorkerDeps, run: RunState): Promise<void> {
  await deps.workspaces.killAll(run.id);
  await deps.workspaces.restore({ runId: run.id, epoch: run.lease, snapshot: run.snapshot ?? '' });
}

type Modes = Pick<RunSpec, 'modes'>;
type Call = StepState['call'];

/** The place of a call in its run. Equal in all runs of the same input, unlike the call's id. */
const placeOf = ({ turn, index }: Pick<Call, 'turn' | 'index'>): string => `turn ${turn}, call ${index + 1}`;

/** The seed for the random numbers of a call in a deterministic run. */
export const seedOf = ({ modes }: Modes, call: Pick<Call, 'turn' | 'index'>): string | undefined =>
  modes.deterministic ? placeOf(call) : undefined;

/** The message of a call's snapshot. The message is part of the snapshot's id. */
export const snapshotMessage = ({ modes }: Modes, { id, attempt, call }: StepState, taskId?: string): string => {
  if (modes.deterministic) return `${call.tool} (${placeOf(call)})`;
  return `${call.tool}${taskId === undefined ? '' : ` ${taskId}`} (${id}, attempt ${attempt})`;
};

/** A duration in whole milliseconds; 0 in a deterministic run. */
export const tookSince = ({ modes }: Modes, startedAt: number): number =>
  modes.deterministic ? 0 : Math.round(performance.now() - startedAt);
