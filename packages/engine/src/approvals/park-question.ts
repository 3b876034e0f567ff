import { createHash } from 'node:crypto';
import * as contract from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { fromPayload, readApproval, readStep, retryWhileContended, toPayload } from '../log/index.ts';
import { hasDecision } from './judge-step.ts';
import { requestApproval } from './request-approval.ts';

/**
 * Parks a call whose other side asks a person before it continues. Who decides on the call also answers, in the same way. No-op when the
 * attempt is no longer running.
 */
export async function parkQuestion(
  deps: WorkerDeps,
  { id: runId }: domain.RunState,
  step: domain.StepState,
  { verdict, ...asked }: domain.NewQuestion & { verdict: contract.Verdict },
): Promise<void> {
  const question = await fromPayload(deps.blobs, asked.question);
  await retryWhileContended(step.id, async () => {
    const found = await readStep(deps.redis, runId, step.id);
    if (found?.step.status !== 'running' || found.step.attempt !== step.attempt) return true;
    const { run } = found;
    // A canceled run settles the attempt like any other attempt.
    if (run.status === 'canceling') return true;
    const round = domain.nextRound(found.step);
    const preview = await toPayload(deps.blobs, shown(question, round));
    const terms = await termsFor(deps, run, found.step, verdict);
    const decided = await hasDecision(deps, run, found.step);
    const uses = `question ${createHash('sha256')
      .update(contract.canonicalJson([round, question]))
      .digest('hex')}`;
    const reason = `the MCP server ${question.server} asks before the call continues`;
    return requestApproval(deps, run, async (open) =>
      domain.askQuestion(run, found.step, { ...asked, decided, preview, uses, reason, terms, ...(await open(terms)) }),
    );
  });
}

const shown = (question: contract.OutsideQuestion, round: number) => ({
  kind: 'question',
  question: contract.questionText(question, round),
  options: contract.questionOptions(question),
  server: question.server,
});

/** Why no person can answer; undefined when one can. Several callers agree on a call as it is, and an answer adds to the call. */
export async function whyNotAnswerable(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  verdict: contract.Verdict,
): Promise<contract.Problem | undefined> {
  const { deciders } = await termsFor(deps, run, step, verdict);
  if (!domain.needsSeveral(deciders)) return undefined;
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
  run: domain.RunState,
  { approval, call }: domain.StepState,
  verdict: contract.Verdict,
): Promise<contract.ApprovalTerms> {
  const before = approval === undefined ? undefined : await readApproval(redis, run.id, approval);
  return questionTerms(before?.request ?? (verdict.rule === undefined ? call.verdict : verdict) ?? {});
}

const questionTerms = ({
  deciders,
  expires_s,
  confirm,
  remind_after_s,
  escalate,
}: contract.ApprovalTerms): contract.ApprovalTerms => ({
  deciders,
  expires_s,
  confirm,
  remind_after_s,
  escalate,
});
