import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { readSpec } from '../log/index.ts';
import { askTool, judgeStep } from './judge-step.ts';
import { viewApproval } from './view-approval.ts';

/** Recorded as the decider when the deadline passes without a decision of a person. No caller can have this name. */
const thePolicy = 'the policy';

/** The deadline of a parked step has passed: nothing runs, unless every policy in force allows the call in this case. */
export async function expireStep(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  approval: domain.ApprovalState,
  signal: AbortSignal,
): Promise<domain.Transition> {
  if (!(await mayRun(deps, run, step, approval, signal))) return domain.expire(run, step, approval);
  const { digest } = await viewApproval(deps, approval.id);
  return domain.decide(run, step, approval, { kind: 'approve', digest, by: thePolicy, expired: true });
}

/** The policies may be stricter by now, and the tool may have a question about the present workspace. */
async function mayRun(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  { request }: domain.ApprovalState,
  signal: AbortSignal,
): Promise<boolean> {
  const isOpen = run.status === 'running' || run.status === 'waiting';
  if (request.on_expiry !== 'allow' || request.kind !== 'action' || !isOpen) return false;
  const verdict = await judgeStep(deps, run, await readSpec(deps, run), step);
  if (verdict.action === 'deny') return false;
  if (verdict.action === 'hold' && domain.termsOf(step, verdict).on_expiry !== 'allow') return false;
  return (await askTool(deps, run, step, signal)) === undefined;
}
