import type { RunSpec, Verdict } from '@holdpoint/contract';
import { type BoundPolicies, type CallFacts, judge } from '@holdpoint/policy';
import { describeCall } from '../../approvals/describe-call.ts';
import { factsOf, withQuestion } from '../../approvals/judge-described.ts';
import type { EngineDeps } from '../../deps.ts';
import { judgeGrants, type RunState } from '../../domain/index.ts';
import { fromPayload } from '../../log/index.ts';
import type { LoggedCall } from './read-calls.ts';

/**
 * The facts about a past call for the policies: arguments, effect and risk are recorded, the touched paths and hosts are computed from
 * these.
 */
export async function factsThen(
  deps: Pick<EngineDeps, 'blobs' | 'catalog'>,
  { spec, run }: { spec: RunSpec; run: Pick<RunState, 'parent'> },
  { tool, args: checked, written, effect, risk }: LoggedCall,
): Promise<{ ok: true; facts: CallFacts } | { ok: false; args: unknown; reason: string }> {
  const args = await fromPayload(deps.blobs, written ?? checked);
  const described = describeCall(deps, spec, { run, tool, args });
  if (!described.ok) return { ok: false, args, reason: described.error.message };
  return { ok: true, facts: factsOf(spec, { tool, args, described: { ...described, effect, risk } }) };
}

/** The verdict of these policies. A denial by the run's permissions stays. */
export const judgeAgain = (
  spec: RunSpec,
  policies: BoundPolicies,
  { facts, gate }: { facts: CallFacts; gate: LoggedCall['gate'] },
): Verdict => judgeGrants(spec, facts) ?? withQuestion(judge(policies, facts), gate);
