import { isSettled, isTerminal } from '@holdpoint/contract';
import { notifyParent } from '../agents/index.ts';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type RunState, resumed, type StepState } from '../domain/index.ts';
import { retryWhileContended } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { reservePlace } from './reserve-place.ts';
import { toolsToAccept } from './resume-tree.ts';
import { prepareRewind, recordRewind } from './undo-run.ts';

interface Retry {
  /**
   * The first repeated step: its id, or its number in the list of steps, from 1. Default: the first failed step of the last turn; in an
   * open run no settled step is repeated.
   */
  fromStep?: string | number;
  /** Effects outside of the workspace cannot be undone. `true` accepts this, `false` refuses to undo such steps. */
  keepExternalEffects: boolean;
  acceptNewVersion?: boolean;
  by: string;
}

/**
 * Continues a failed, canceled or paused run from one of its steps: this step and the later steps are undone and repeated. When the call
 * returns, the retry is recorded and the run is active.
 * @returns the ids of the undone steps
 * @throws EngineError `run_not_found`, `run_not_retryable`, `run_not_idle`, `step_not_found`, `step_not_settled`, `external_effects`,
 * `workspace_not_ready`, `tools_changed`
 */
export async function retryRun(deps: EngineDeps, runId: string, request: Retry): Promise<string[]> {
  let undone: string[] = [];
  await retryWhileContended(runId, async () => {
    const past = await listSteps(deps, runId);
    const { run } = past;
    assertRetryable(run);
    const alive = past.steps.filter((step) => step.status !== 'undone');
    const place = placeOf(run, alive, request.fromStep);
    const rewind = await prepareRewind(deps, past, { ...request, toStep: place });
    if (isTerminal(run.status))
      await reservePlace(deps, runId, { tenant: run.tenant, by: run.created_by, again: run.seq });
    const tools = await toolsToAccept(deps, run, request.acceptNewVersion ?? false);
    undone = rewind.undone.map((step) => step.id);
    // Approvals of undone steps are closed with the steps.
    const after = { ...run, parked: run.parked - rewind.approvals.length, turn: rewind.turn };
    const again = resumed(after, run.status === 'paused' ? 'pause' : 'end', { by: request.by, tools });
    const isRecorded = await recordRewind(deps, run, rewind, [again]);
    if (isRecorded) await notifyParent(deps, run);
    return isRecorded;
  });
  return undone;
}

function assertRetryable(run: RunState): void {
  const isOver = run.status === 'failed' || run.status === 'canceled';
  if (isOver && run.publication === 'none' && run.parent === undefined) return;
  if (run.status === 'paused') return;
  const why = run.parent === undefined ? `is ${run.status} (change set: ${run.publication})` : 'is a sub-agent';
  throw new EngineError('run_not_retryable', `the run ${run.id} ${why}`);
}

/** The number of kept steps. */
function placeOf(
  run: RunState,
  alive: Awaited<ReturnType<typeof listSteps>>['steps'],
  from: string | number | undefined,
): number {
  if (typeof from === 'string') {
    const found = alive.findIndex((step) => step.id === from);
    if (found === -1) throw new EngineError('step_not_found', `the run ${run.id} has no step ${from}`);
    return found;
  }
  if (from !== undefined) {
    if (from > alive.length) throw new EngineError('step_not_found', `the run ${run.id} has no step ${from}`);
    return from - 1;
  }
  const last = alive.at(-1)?.call.turn;
  // The caller of an open run has read how its calls ended, and decides the next calls.
  const isKept = ({ status }: StepState) =>
    run.header.planner === 'open' ? isSettled(status) : status === 'succeeded';
  const failed = alive.findIndex((step) => step.call.turn === last && !isKept(step));
  return failed === -1 ? alive.length : failed;
}
