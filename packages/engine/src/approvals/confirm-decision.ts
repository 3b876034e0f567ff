import { createHash } from 'node:crypto';
import * as contract from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type Transition } from '../domain/index.ts';
import { fromPayload } from '../log/index.ts';
import { challengeOf, whyUnproven } from '../passkeys/index.ts';
import { digestOfPayload, digestOfText } from '../records/audit-text.ts';
import type { ApprovalView, StepApproval } from './view-approval.ts';

/** The full content of an approval, and its digest. A decision names the digest to prove that the caller read the content. */
export interface ApprovalContent {
  args: contract.Json;
  preview: contract.Json;
  content_digest: string;
}

/** The parts that are too long for the approval, with their length in characters of JSON text. */
export type CutParts = Partial<Record<'args' | 'preview', number>>;

/** Parts above `inlineLimit` are not stored in the log. */
export const cutParts = ({ step, approval }: StepApproval): CutParts => {
  const { preview } = approval.request;
  return {
    args: lengthIfLarge(approval.decision?.asked ?? step.args),
    preview: preview && lengthIfLarge(preview),
  };
};

export async function readContent(deps: Pick<EngineDeps, 'blobs'>, view: StepApproval): Promise<ApprovalContent> {
  const { preview: stored } = view.approval.request;
  const preview = stored === undefined ? null : ((await fromPayload(deps.blobs, stored)) as contract.Json);
  const { args } = view;
  const text = contract.canonicalJson([args, preview]);
  return { args, preview, content_digest: `sha256:${createHash('sha256').update(text).digest('hex')}` };
}

/** Only a caller who has read the full content can approve a long call. @throws EngineError `not_opened` */
export async function assertOpened(
  deps: Pick<EngineDeps, 'blobs'>,
  view: StepApproval,
  { decision, content_digest }: Pick<DecisionRequest, 'decision' | 'content_digest'>,
): Promise<void> {
  const cut = Object.entries(cutParts(view)).filter(([, length]) => length !== undefined);
  if (decision !== 'approve' || (cut.length === 0 && content_digest === undefined)) return;
  const content = await readContent(deps, view);
  if (content.content_digest === content_digest) return;
  const parts = cut.map(([part, length]) => `${part === 'args' ? 'arguments' : part} (${length} bytes)`);
  const what = cut.length === 0 ? 'its content' : `its ${parts.join(' and ')}`;
  const message =
    content_digest === undefined
      ? `the approval ${view.approval.id} shows only the beginning of ${what}`
      : `the content_digest is not that of ${what}`;
  throw new EngineError('not_opened', message);
}

const lengthIfLarge = (payload: contract.Payload<unknown>): number | undefined =>
  'sha256' in payload ? payload.bytes : undefined;

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

export interface Remember {
  scope: 'run' | 'policy';
  /** @default 30 days; at most a year */
  expires_s?: number | undefined;
  /** Must be set for a call with effects outside the workspace. */
  external?: boolean | undefined;
}

export interface DecisionRequest {
  decision: contract.DecisionKind;
  action_digest: string;
  /** With `edit`: the arguments of a call, or `{resolutions: […]}` of a publish. */
  args?: Record<string, contract.Json> | undefined;
  /**
   * With `edit`: invalid new arguments settle the call with their error. @default invalid arguments are refused, and the approval stays
   * open
   */
  settlesInvalid?: boolean | undefined;
  message?: string | undefined;
  /** With `approve` and `reject`: the same call is decided in the same way from now on. */
  remember?: Remember | undefined;
  /** Digest of the full content, when the approval shows only a beginning. */
  content_digest?: string | undefined;
  by: string;
  /** @default person */
  kind?: contract.CallerKind;
  /** Gives the proof of a passkey for exactly this decision. Called once all else is checked, and again after a contended append. */
  confirm?: Confirm | undefined;
}

/** @throws EngineError `passkey_refused` */
export type Confirm = (decision: contract.DecisionToConfirm) => Promise<contract.PasskeyAssertion>;

/** A transition, or nothing to do because the caller has voted before. */
export type Checked = Transition | 'already voted';
