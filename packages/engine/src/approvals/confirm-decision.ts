import * as contract from '@holdpoint/contract';
import { EngineError } from '../domain/index.ts';
import { challengeOf, whyUnproven } from '../passkeys/index.ts';
import { digestOfPayload, digestOfText } from '../records/audit-text.ts';
import type { DecisionRequest } from './decision-request.ts';
import type { ApprovalView } from './view-approval.ts';

interface Releasing {
  kind: contract.DecisionKind;
  /** With `edit`: the arguments as they run and whether a rule asks for a passkey for them, or the resolutions of a publish. */
  edited?: { args: contract.Payload; confirm?: 'passkey' | undefined } | undefined;
}

/**
 * The proof of a passkey for a decision that releases a call or a publish, checked as `audit verify` checks it: what cannot be verified later is never
 * recorded. Undefined: no policy asks for a passkey, and the caller gives none. A rejection runs nothing, and needs none.
 * @throws EngineError `passkey_required`, `passkey_refused`
 */
export async function confirmDecision(
  view: ApprovalView,
  request: DecisionRequest,
  { kind, edited }: Releasing,
): Promise<contract.PasskeyAssertion | undefined> {
  const isAsked = view.approval.request.confirm === 'passkey' || edited?.confirm === 'passkey';
  if (kind === 'reject' || (!isAsked && request.confirm === undefined)) return undefined;
  if (request.confirm === undefined) throw passkeyRequired(view);
  const decision = toConfirm(view, request, { kind, edited });
  const assertion = await request.confirm(decision);
  const reason = await whyUnproven(assertion, challengeOf(decision, assertion));
  if (reason !== undefined)
    throw new EngineError('passkey_refused', `the passkey does not prove this decision: ${reason}`);
  return assertion;
}

function passkeyRequired({ subject, approval: { id } }: ApprovalView): EngineError {
  const held =
    subject === 'step' ? `the rule that holds the call of ${id}` : `the policy that holds the publish of ${id}`;
  return new EngineError('passkey_required', `${held} asks for a passkey`, {
    next: `Decide on the page of the approval in the console (/approvals/${id}), which asks for your passkey. Nothing was decided.`,
  });
}

function toConfirm(
  view: ApprovalView,
  { by, message }: DecisionRequest,
  { kind, edited }: Releasing,
): contract.DecisionToConfirm {
  return {
    tenant: view.run.tenant ?? contract.defaultTenant,
    by,
    approval_id: view.approval.id,
    action_digest: view.digest,
    decision: kind,
    args: edited === undefined ? null : digestOfPayload(edited.args).digest,
    message: message === undefined ? null : digestOfText(message),
  };
}
