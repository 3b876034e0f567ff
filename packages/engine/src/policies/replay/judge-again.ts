import { hasNetwork, type RunSpec, type Verdict } from '@holdpoint/contract';
import { type BoundPolicies, type CallFacts, judge } from '@holdpoint/policy';
import { factsOf, withQuestion } from '../../approvals/judge-step.ts';
import type { EngineDeps } from '../../deps.ts';
import { fromPayload } from '../../log/index.ts';
import type { LoggedCall } from './read-calls.ts';

/** What the policies knew of a call when it was made: its arguments, effect and risk are recorded, what it touches follows from them. */
export async function factsThen(
  { blobs, catalog }: Pick<EngineDeps, 'blobs' | 'catalog'>,
  { spec, isAgent }: { spec: RunSpec; isAgent: boolean },
  { tool, args: checked, written, effect, risk }: LoggedCall,
): Promise<{ ok: true; facts: CallFacts } | { ok: false; args: unknown; reason: string }> {
  const args = await fromPayload(blobs, written ?? checked);
  const described = catalog.describe({
    ...{ toolset: spec.toolset, tool, args },
    ...{ network: hasNetwork(spec.network), unattended: isAgent },
  });
  if (!described.ok) return { ok: false, args, reason: described.error.message };
  return { ok: true, facts: factsOf(spec, { tool, args, described: { ...described, effect, risk } }) };
}

export const judgeAgain = (policies: BoundPolicies, facts: CallFacts, { gate }: Pick<LoggedCall, 'gate'>): Verdict =>
  withQuestion(judge(policies, facts), gate);
