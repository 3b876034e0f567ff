import type {
  ApprovalKind,
  ConflictSummary,
  DecisionKind,
  PasskeyAssertion,
  Payload,
  Problem,
  Published,
  PublishOptions,
  Resolution,
  Shown,
  ValidatorResult,
} from '@holdpoint/contract';
import {
  type ApprovalState,
  approvalIs,
  type Condition,
  fieldIs,
  headIs,
  leaseIs,
  parkedIs,
  publicationIs,
  type RunState,
  runField,
  runIs,
  snapshotIs,
  type Transition,
} from '../model.ts';

/** Records the request of a publish. A worker publishes afterwards, so the publish survives a crash in between. */
export const requestPublish = (run: RunState, options: PublishOptions & { by: string }): Transition => ({
  if: [
    runIs('succeeded'),
    publicationIs('none', 'conflicted', 'failed', 'rejected', 'published'),
    snapshotIs(run.snapshot ?? ''),
  ],
  events: [
    {
      type: 'workspace.publish_requested',
      data: { snapshot: run.snapshot ?? '', number: (run.publish_request?.number ?? 0) + 1, ...options },
    },
  ],
});

/** Validators start. When a later worker finds this event without a result, the worker of the validators died or is frozen. */
export const recordValidating = (run: RunState, snapshot: string): Transition => ({
  if: [publicationIs('requested'), leaseIs(run.lease), headIs(run.head), fieldIs(runField.validating, run.validating)],
  events: [{ type: 'workspace.validating', data: { snapshot } }],
});

/** Records the results of the validators. The publish ends when any validator failed. */
export const recordValidation = (
  run: RunState,
  validated: { snapshot: string; results: Payload<ValidatorResult[]> },
  failed: Problem | undefined,
): Transition => ({
  if: [publicationIs('requested'), leaseIs(run.lease)],
  events: [
    { type: 'workspace.validated', data: { ...validated, passed: failed === undefined } },
    ...(failed === undefined ? [] : recordPublishFailed(run, failed).events),
  ],
});

export const recordPublished = (run: RunState, published: Published): Transition => ({
  if: [publicationIs('requested')],
  events: [{ type: 'workspace.published', data: { snapshot: run.snapshot ?? '', published } }],
});

export const recordConflict = (
  run: RunState,
  conflicts: readonly ConflictSummary[],
  { parked }: { parked?: true } = {},
): Transition => ({
  if: [publicationIs('requested')],
  events: [{ type: 'workspace.conflicted', data: { snapshot: run.snapshot ?? '', conflicts: [...conflicts], parked } }],
});

export const recordPublishFailed = (run: RunState, reason: Problem): Transition => ({
  if: [publicationIs('requested')],
  events: [{ type: 'workspace.publish_failed', data: { snapshot: run.snapshot ?? '', reason } }],
});

/** A publish waiting for a person. With conflicts, the publication is also conflicted. */
export interface Hold {
  approvalId: string;
  kind: Extract<ApprovalKind, 'publish' | 'conflict'>;
  digest: string;
  reason: string;
  preview: Payload<Shown>;
  expiresAt: string;
  confirm: 'passkey' | undefined;
  conflicts: readonly ConflictSummary[];
}

export function parkPublish(run: RunState, hold: Hold): Transition {
  const conflicted = hold.kind === 'conflict' ? recordConflict(run, hold.conflicts, { parked: true }).events : [];
  return {
    if: [publicationIs('requested'), parkedIs(run.parked)],
    events: [
      ...conflicted,
      {
        type: 'approval.requested',
        data: {
          approval_id: hold.approvalId,
          kind: hold.kind,
          action_digest: hold.digest,
          snapshot: run.snapshot ?? '',
          reason: hold.reason,
          risk: 'high',
          preview: hold.preview,
          confirm: hold.confirm,
          allowed_decisions: decisionsFor[hold.kind],
          expires_at: hold.expiresAt,
        },
      },
    ],
  };
}

/** For a conflict, `approve` tries again with the then present source, and `edit` resolves each file. */
const decisionsFor = {
  publish: ['approve', 'reject'],
  conflict: ['approve', 'edit', 'reject'],
} as const satisfies Record<Hold['kind'], DecisionKind[]>;

/** A checked decision of a person about a parked publish. */
export interface PublishDecision {
  kind: DecisionKind;
  digest: string;
  by: string;
  message?: string;
  resolutions?: Payload<Resolution[]>;
  assertion?: PasskeyAssertion | undefined;
}

/** The first decision wins. */
export function decidePublish(run: RunState, approval: ApprovalState, decision: PublishDecision): Transition {
  const { kind, digest, by, message, resolutions, assertion } = decision;
  return {
    if: stillParked(run, approval),
    before: Date.parse(approval.request.expires_at),
    events: [
      {
        type: 'approval.decided',
        data: {
          approval_id: approval.id,
          decision: kind,
          action_digest: digest,
          snapshot: run.snapshot ?? '',
          args: resolutions,
          message,
          by,
          assertion,
        },
      },
      kind === 'reject'
        ? { type: 'workspace.publish_rejected', data: { reason: rejected(by, message) } }
        : { type: 'workspace.publish_released', data: released(run, approval, decision) },
    ],
  };
}

/** Resolutions stay in force when their result is approved afterwards. */
function released(run: RunState, approval: ApprovalState, { digest, resolutions, assertion }: PublishDecision) {
  const approves = approval.request.kind === 'publish';
  return {
    approved: approves ? digest : undefined,
    confirmed: approves && assertion !== undefined ? (true as const) : undefined,
    resolutions: resolutions ?? run.publish_release?.resolutions,
  };
}

const rejected = (by: string, message: string | undefined): Problem => ({
  code: 'publish_rejected',
  message: `Not published: ${by} rejected it.${message === undefined ? '' : ` They say: ${message}`}`,
  next: 'Publish again, or download the patch.',
});

export const expirePublish = (run: RunState, approval: ApprovalState): Transition => ({
  if: stillParked(run, approval),
  events: [
    { type: 'approval.expired', data: { approval_id: approval.id } },
    {
      type: 'workspace.publish_rejected',
      data: {
        reason: {
          code: 'publish_expired',
          message: `Not published: no decision before ${approval.request.expires_at}.`,
          next: 'Publish again.',
        },
      },
    },
  ],
});

const stillParked = (run: RunState, approval: ApprovalState): Condition[] => [
  publicationIs('parked'),
  approvalIs(approval.id, 'pending'),
  parkedIs(run.parked),
];

/** A publish waiting for a decision ends with the workspace. No fork may be waiting for its copy: the caller checks `run.forks`. */
export function requestDiscard(run: RunState, by: string): Transition {
  const parked = run.publication === 'parked' && run.publish_approval !== undefined;
  return {
    if: [
      runIs('succeeded', 'failed', 'canceled'),
      publicationIs(run.publication),
      parkedIs(run.parked),
      fieldIs(runField.forks, run.forks),
    ],
    events: [
      ...(parked
        ? [
            {
              type: 'approval.canceled' as const,
              data: { approval_id: run.publish_approval ?? '', reason: 'the workspace is discarded' },
            },
          ]
        : []),
      { type: 'workspace.discard_requested', data: { by, from: run.publication } },
    ],
  };
}

export const recordDiscarded = (): Transition => ({
  if: [publicationIs('discarding')],
  events: [{ type: 'workspace.discarded', data: {} }],
});
