import type { AuditBodyOf, EventOf } from '@holdpoint/contract';
import { digestOfText, type Redact, textOfPayload } from './audit-text.ts';
import { type CallFacts, ofRun, type RunFacts } from './run-facts.ts';

type ApprovalEvent = EventOf<'approval.requested' | 'approval.decided' | 'approval.expired' | 'approval.canceled'>;
type Known = Omit<
  CallFacts['approvals'] extends Map<string, infer Approval> ? Approval : never,
  'approval_id' | 'kind'
>;

/** Notes an approval for the record of its call. */
export function learnApproval(facts: RunFacts, event: ApprovalEvent, known: Known): void {
  const call = event.step_id === undefined ? undefined : facts.calls.get(event.step_id);
  const { approval_id } = event.data;
  const kind = facts.approvals.get(approval_id)?.data.kind;
  if (call === undefined || kind === undefined) return;
  call.approvals.set(approval_id, { approval_id, kind, ...known });
}

/** The members that the records of an approval share. */
export function approvalCommon(facts: RunFacts, event: ApprovalEvent, redact: Redact) {
  const { approval_id } = event.data;
  const asked = facts.approvals.get(approval_id)?.data;
  const known = event.step_id === undefined ? undefined : facts.calls.get(event.step_id);
  return {
    ...{ kind: 'approval' as const, ...ofRun(facts, event), approval_id, step_id: event.step_id },
    ...{ tool: known?.created.data.tool, toolset: known && facts.toolset, about: asked?.kind },
    ...{ action_digest: asked?.action_digest, snapshot: asked?.snapshot, confirm: asked?.confirm },
    args: known && textOfPayload(known.args, redact),
  } satisfies Omit<AuditBodyOf<'approval'>, 'status'>;
}

/** The proof of a passkey, with the digest of the message that its challenge covers. */
export const proofOf = ({
  assertion,
  message,
}: Pick<EventOf<'approval.decided'>['data'], 'assertion' | 'message'>) => ({
  assertion,
  message_digest: assertion === undefined || message === undefined ? undefined : digestOfText(message),
});
