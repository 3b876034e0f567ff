import type { Verdict } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { editorsOf, holdAttempt, type RunState, type StepState } from '../domain/index.ts';
import { readApproval, readStep, retryWhileContended } from '../log/index.ts';
import { findAnswer } from './answer-by-rule.ts';
import { previewCall } from './preview-call.ts';
import { requestApproval } from './request-approval.ts';

/**
 * Parks a call whose attempt found a reason to ask a person, unless a remembered rule answers. The attempt did nothing. No-op when the
 * attempt is no longer running.
 */
export async function parkAttempt(
  deps: WorkerDeps,
  { id: runId }: RunState,
  step: StepState,
  verdict: Verdict,
  signal: AbortSignal,
): Promise<void> {
  await retryWhileContended(step.id, async () => {
    const found = await readStep(deps.redis, runId, step.id);
    if (found?.step.status !== 'running' || found.step.attempt !== step.attempt) return true;
    const { run } = found;
    // A canceled run settles the attempt like any other attempt.
    if (run.status !== 'running' && run.status !== 'waiting') return true;
    const shown = await previewCall(deps, run, found.step, signal, verdict.preview);
    const answer = await findAnswer(deps, run, found.step, { verdict, shown }, signal);
    const edited_by = await editorsBefore(deps, run, found.step);
    return requestApproval(deps, run, async (open) =>
      holdAttempt(
        run,
        found.step,
        answer === undefined
          ? { action: 'hold', verdict, edited_by, ...(await open(verdict)), ...shown }
          : { action: 'answer', verdict, ...answer, ...(await open(verdict, 'answered')), ...shown },
      ),
    );
  });
}

async function editorsBefore({ redis }: WorkerDeps, run: RunState, { approval }: StepState) {
  const before = approval === undefined ? undefined : await readApproval(redis, run.id, approval);
  return before && editorsOf(before);
}
