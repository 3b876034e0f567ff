import { createHash } from 'node:crypto';
import {
  type ApprovalTerms,
  canonicalJson,
  type OutsideQuestion,
  type Problem,
  questionOptions,
  questionText,
  type Verdict,
} from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import {
  askQuestion,
  type NewQuestion,
  needsSeveral,
  nextRound,
  type RunState,
  type StepState,
} from '../domain/index.ts';
import { fromPayload, readApproval, readStep, retryWhileContended, toPayload } from '../log/index.ts';
import { hasDecision } from './has-decision.ts';
import { requestApproval } from './request-approval.ts';

/**
 * Parks a call whose other side asks a person before it continues. Who decides on the call also answers, in the same way. No-op when the
 * attempt is no longer running.
 */
export async function parkQuestion(
  deps: WorkerDeps,
  { id: runId }: RunState,
  step: StepState,
  { verdict, ...asked }: NewQuestion & { verdict: Verdict },
): Promise<void> {
  const question = await fromPayload(deps.blobs, asked.question);
  await retryWhileContended(step.id, async () => {
    const found = await readStep(deps.redis, runId, step.id);
    if (found?.step.status !== 'running' || found.step.attempt !== step.attempt) return true;
    const { run } = found;
    // A canceled run settles the attempt like any other attempt.
    if (run.status === 'canceling') return true;
    const round = nextRound(found.step);
    const preview = await toPayload(deps.blobs, shown(question, round));
    const terms = await termsFor(deps, run, found.step, verdict);
    const decided = await hasDecision(deps, run, found.step);
    const uses = `question ${createHash('sha256')
      .update(canonicalJson([round, question]))
      .digest('hex')}`;
    const reason = `the MCP server ${question.server} asks before the call continues`;
    return requestApproval(deps, run, async (open) =>
      askQuestion(run, found.step, { ...asked, decided, preview, uses, reason, terms, ...(await open(terms)) }),
    );
  });
}

const shown = (question: OutsideQuestion, round: number) => ({
  kind: 'question',
  question: questionText(question, round),
  options: questionOptions(question),
  server: question.server,
});

/** Why no person can answer; undefined when one can. Several callers agree on a call as it is, and an answer adds to the call. */
export async function whyNotAnswerable(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  verdict: Verdict,
): Promise<Problem | undefined> {
  const { deciders } = await termsFor(deps, run, step, verdict);
  if (!needsSeveral(deciders)) return undefined;
  return {
    code: 'EQUORUM',
    message:
      'The server asks a question before the call continues, and several callers have to agree on this call: one answer is not enough.',
    next: 'Make the call with arguments that leave nothing to ask, or continue without it.',
  };
}

/** The terms of the last approval of the call, or of the rule that holds such calls. No rule holds the question itself. */
async function termsFor(
  { redis }: WorkerDeps,
  run: RunState,
  { approval, call }: StepState,
  verdict: Verdict,
): Promise<ApprovalTerms> {
  const before = approval === undefined ? undefined : await readApproval(redis, run.id, approval);
  return questionTerms(before?.request ?? (verdict.rule === undefined ? call.verdict : verdict) ?? {});
}

const questionTerms = ({ deciders, expires_s, confirm, remind_after_s, escalate }: ApprovalTerms): ApprovalTerms => ({
  deciders,
  expires_s,
  confirm,
  remind_after_s,
  escalate,
});
