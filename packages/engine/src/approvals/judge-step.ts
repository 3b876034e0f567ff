import type { RunSpec } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { judgeCall, type PolicyVerdict, type StepState } from '../domain/index.ts';

/** A question to a person parks whatever the policy says, unless the policy denies it. */
export function judgeStep({ operatorPolicy }: WorkerDeps, spec: RunSpec, step: StepState): PolicyVerdict {
  const { effect } = step;
  const { tool, risk } = step.call;
  const { action, reason } = judgeCall(spec, operatorPolicy, { tool, effect, risk });
  if (step.call.gate === 'input' && action !== 'deny') return { action: 'hold', reason: 'the agent asks a person' };
  return { action, reason };
}
