import type { DecisionKind, PolicyAction } from '@holdpoint/contract';
import type { CallFacts } from '../match/call-facts.ts';

/** A call judged by a gate, and the decision of people. */
export interface RecordedCall {
  run_id: string;
  step_id: string;
  facts: CallFacts;
  /** The recorded verdict. */
  action: PolicyAction;
  /** `expired`: no decision in time. Undefined when the call was not held, or is still open. */
  decision?: { kind: DecisionKind | 'expired'; by?: string | undefined; at: string } | undefined;
}
