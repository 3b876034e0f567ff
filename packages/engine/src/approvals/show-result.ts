import type { Problem } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { type ApprovalState, failPreview, type RunState, replaceByPreview, type StepState } from '../domain/index.ts';
import { abortReason, type JobContext, leaveIfAborted, readError, untilCanceled } from '../jobs/index.ts';
import * as runLog from '../log/index.ts';
import { judgeStep } from './judge-step.ts';
import { previewCall, type ShownCall } from './preview-call.ts';
import { requestApproval } from './request-approval.ts';
import { isPreviewDue, isResult } from './result-preview.ts';

/**
 * Runs a held call for a caller who wants to see its result, and replaces its approval by one that carries the result. Where there is no
 * result to show, the approval stays and has the reason. A decision in the meantime ends the run of the call at once, and wins.
 */
export async function showResult(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  { asked, context }: { asked: ApprovalState; context: JobContext },
): Promise<void> {
  const watched = untilCanceled(context);
  const stopWatching = watchDecision(deps, run, asked.id, () => watched.abort('canceled'));
  try {
    const result = await runHeld(deps, run, step, watched.signal);
    if ('reason' in result) await runLog.append(deps, run.id, failPreview(step, asked, result.reason));
    else await replace(deps, run, step, { asked, result });
  } catch (error) {
    if (abortReason(watched.signal) === 'canceled') return;
    leaveIfAborted(context.signal);
    const { problem, retryable } = readError(error);
    if (retryable && !context.lastTry) throw error;
    // The call itself was not begun: a person can still decide on it.
    await runLog.append(deps, run.id, failPreview(step, asked, problem));
  } finally {
    stopWatching();
  }
}

interface Result {
  preview: NonNullable<ShownCall['preview']>;
  uses: string;
}

async function runHeld(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<Result | { reason: Problem }> {
  const verdict = await judgeStep(deps, run, await runLog.readSpec(deps, run), step);
  if (verdict.action === 'deny') {
    return { reason: { code: 'EPERMISSION', message: `The policies deny the call by now: ${verdict.reason}` } };
  }
  const { preview, uses } = await previewCall(deps, run, step, signal, 'run');
  if (preview !== undefined && isResult(uses)) return { preview, uses };
  const shown = preview === undefined ? undefined : await runLog.fromPayload(deps.blobs, preview);
  const isProblem = shown !== undefined && 'kind' in shown && shown.kind === 'problem' && 'message' in shown;
  return { reason: isProblem ? { code: 'EFORBIDDENCHANGE', message: String(shown.message) } : noResult };
}

const noResult: Problem = {
  code: 'ENORESULT',
  message: 'The call has no result that can be shown: it starts a task, or changes more than an approval can show.',
  next: 'Decide on the call as it is.',
};

/** Other calls of the run may be asked about or decided while the call runs: the result stands as long as its snapshot does. */
async function replace(
  deps: WorkerDeps,
  { id: runId, snapshot }: RunState,
  step: StepState,
  { asked, result: { preview, uses } }: { asked: ApprovalState; result: Result },
): Promise<void> {
  await runLog.retryWhileContended(asked.id, async () => {
    const found = await runLog.readStepWithApproval(deps.redis, runId, { stepId: step.id, approvalId: asked.id });
    if (found === undefined || found.run.snapshot !== snapshot || !isPreviewDue(found.run, found.approval)) return true;
    const { run, approval } = found;
    const isReplaced = await requestApproval(deps, run, async (open) => {
      const { approvalId } = await open(approval.request);
      return replaceByPreview(run, found.step, approval, { approvalId, preview, uses });
    });
    if (isReplaced) await runLog.untrackApproval(deps.redis, approval.id);
    return isReplaced || Date.parse(approval.request.expires_at) <= deps.now();
  });
}

/** A person who decides does not wait for the end of the preview. */
const watchMs = 500;

function watchDecision(
  { redis, logger }: WorkerDeps,
  run: RunState,
  approvalId: string,
  onDecision: () => void,
): () => void {
  const look = async () => {
    const approval = await runLog.readApproval(redis, run.id, approvalId);
    if (approval !== undefined && !isPreviewDue(run, approval)) onDecision();
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => logger.debug({ run_id: run.id, err: error }, 'an approval could not be read'));
  }, watchMs);
  return () => clearInterval(timer);
}
