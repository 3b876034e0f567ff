import type { Verdict } from '@holdpoint/contract';
import { type BoundPolicies, judge, strictness } from '../judge/judge.ts';
import type { RecordedCall } from './recorded-call.ts';

export interface ReplayedCall {
  call: RecordedCall;
  verdict: Verdict;
}

/** The calls with another verdict, in the order that needs most attention: what would newly run comes first. */
export interface Replay {
  newly_allowed: ReplayedCall[];
  newly_held: ReplayedCall[];
  newly_denied: ReplayedCall[];
  unchanged: number;
}

/**
 * Judges recorded calls again. Calls that people refused come first in `newly_allowed`. Pure.
 * @param policiesOf the policies that would bind the run of a call
 */
export function replayCalls(calls: readonly RecordedCall[], policiesOf: (call: RecordedCall) => BoundPolicies): Replay {
  const judged = calls.map((call): ReplayedCall => ({ call, verdict: judge(policiesOf(call), call.facts) }));
  const changed = judged.filter(({ call, verdict }) => verdict.action !== call.action);
  const newly = (action: Verdict['action']) => changed.filter(({ verdict }) => verdict.action === action);
  return {
    newly_allowed: newly('allow').sort((a, b) => concern(b.call) - concern(a.call)),
    newly_held: newly('hold').sort((a, b) => strictness[b.call.action] - strictness[a.call.action]),
    newly_denied: newly('deny'),
    unchanged: judged.length - changed.length,
  };
}

/** Denied, then refused, then not decided, then approved. */
function concern({ action, decision }: RecordedCall): number {
  if (action === 'deny') return 3;
  if (isRefused({ decision })) return 2;
  return decision === undefined || decision.kind === 'expired' ? 1 : 0;
}

/** A person did not want the call as it was. An edit replaces it. */
export const isRefused = ({ decision }: Pick<RecordedCall, 'decision'>): boolean =>
  decision !== undefined && ['reject', 'respond', 'edit'].includes(decision.kind);
