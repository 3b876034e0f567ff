import type { RunSpec } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { judgeCall, type PolicyVerdict, type RunState, type StepState } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';
import { askTool } from './ask-tool.ts';

/** A question to a person parks whatever the policy says, unless the policy denies it. */
export function judgeStep({ operatorPolicy }: WorkerDeps, spec: RunSpec, step: StepState): PolicyVerdict {
  const { effect } = step;
  const { tool, risk } = step.call;
  const { action, reason } = judgeCall(spec, operatorPolicy, { tool, effect, risk });
  if (step.call.gate === 'input' && action !== 'deny') return { action: 'hold', reason: 'the agent asks a person' };
  return { action, reason };
}

/** The same with a look at the workspace: a tool adds its question to what the policy allows. */
export async function judgeInPlace(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<PolicyVerdict> {
  const verdict = judgeStep(deps, await readSpec(deps, run), step);
  if (verdict.action !== 'allow') return verdict;
  const question = await askTool(deps, run, step, signal);
  return question === undefined ? verdict : { action: 'hold', reason: question };
}

/**
 * The verdict on a call whose attempt has begun. The policy may have become stricter since the call passed the gate, and the workspace may
 * have changed under the tool's question. A decision of a person answers a hold, never a denial.
 */
export async function judgeBegun(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<PolicyVerdict> {
  const isDecided = step.approval !== undefined;
  // A call that waited for its task was let through when it began.
  if (isDecided || step.deferred !== undefined) {
    const verdict = judgeStep(deps, await readSpec(deps, run), step);
    return verdict.action === 'hold' ? { ...verdict, action: 'allow' } : verdict;
  }
  return judgeInPlace(deps, run, step, signal);
}
