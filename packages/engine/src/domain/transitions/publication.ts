import type * as contract from '@holdpoint/contract';
import * as model from '../model.ts';

/** Records the request of a publish. A worker publishes afterwards, so the publish survives a crash in between. */
export const requestPublish = (
  run: model.RunState,
  options: contract.PublishOptions & { by: string },
): model.Transition => ({
  if: [
    model.runIs('succeeded'),
    model.publicationIs('none', 'conflicted', 'failed', 'rejected', 'published'),
    model.snapshotIs(run.snapshot ?? ''),
  ],
  events: [
    {
      type: 'workspace.publish_requested',
      data: { snapshot: run.snapshot ?? '', number: (run.publish_request?.number ?? 0) + 1, ...options },
    },
  ],
});

/** Asks for the validators alone, also in a dry run. Their end is the end of this request. */
export const requestValidating = (run: model.RunState, by: string): model.Transition => ({
  ...requestPublish(run, { message: 'Validators alone', by, only_validate: true }),
  if: [model.runIs('succeeded'), model.publicationIs('none'), model.snapshotIs(run.snapshot ?? '')],
});

export const recordOnlyValidated = (): model.Transition => ({
  if: [model.publicationIs('requested')],
  events: [{ type: 'workspace.publish_rejected', data: { reason: onlyValidated } }],
});

const onlyValidated: contract.Problem = {
  code: 'only_validated',
  message: 'Not published: only its validators were asked for. They passed.',
  next: 'Publish it, if you want its changes; a dry run publishes nothing.',
};

/** Validators start. When a later worker finds this event without a result, the worker of the validators died or is frozen. */
export const recordValidating = (run: model.RunState, snapshot: string): model.Transition => ({
  if: [
    model.publicationIs('requested'),
    model.leaseIs(run.lease),
    model.headIs(run.head),
    model.fieldIs(model.runField.validating, run.validating),
  ],
  events: [{ type: 'workspace.validating', data: { snapshot } }],
});

/** Records the results of the validators. The publish ends when any validator failed. */
export const recordValidation = (
  run: model.RunState,
  validated: { snapshot: string; results: contract.Payload<contract.ValidatorResult[]> },
  failed: contract.Problem | undefined,
): model.Transition => ({
  if: [model.publicationIs('requested'), model.leaseIs(run.lease)],
  events: [
    { type: 'workspace.validated', data: { ...validated, passed: failed === undefined } },
    ...(failed === undefined ? [] : recordPublishFailed(run, failed).events),
  ],
});

export const recordPublished = (run: model.RunState, published: contract.Published): model.Transition => ({
  if: [model.publicationIs('requested')],
  events: [{ type: 'workspace.published', data: { snapshot: run.snapshot ?? '', published } }],
});

export const recordConflict = (
  run: model.RunState,
  conflicts: readonly contract.ConflictSummary[],
  { parked }: { parked?: true } = {},
): model.Transition => ({
  if: [model.publicationIs('requested')],
  events: [{ type: 'workspace.conflicted', data: { snapshot: run.snapshot ?? '', conflicts: [...conflicts], parked } }],
});

export const recordPublishFailed = (run: model.RunState, reason: contract.Problem): model.Transition => ({
  if: [model.publicationIs('requested')],
  events: [{ type: 'workspace.publish_failed', data: { snapshot: run.snapshot ?? '', reason } }],
});

/** A publish waiting for a person. With conflicts, the publication is also conflicted. */
export interface Hold {
  approvalId: string;
  kind: Extract<contract.ApprovalKind, 'publish' | 'conflict'>;
  digest: string;
  reason: string;
  preview: contract.Payload<contract.Shown>;
  expiresAt: string;
  confirm: 'passkey' | undefined;
  conflicts: readonly contract.ConflictSummary[];
}

export function parkPublish(run: model.RunState, hold: Hold): model.Transition {
  const conflicted = hold.kind === 'conflict' ? recordConflict(run, hold.conflicts, { parked: true }).events : [];
  return {
    if: [model.publicationIs('requested'), model.parkedIs(run.parked)],
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
} as const satisfies Record<Hold['kind'], contract.DecisionKind[]>;

/** A checked decision of a person about a parked publish. */
export interface PublishDecision {
  kind: contract.DecisionKind;
  digest: string;
  by: string;
  message?: string;
  resolutions?: contract.Payload<contract.Resolution[]>;
  assertion?: contract.PasskeyAssertion | undefined;
}

/** The first decision wins. */
export function decidePublish(
  run: model.RunState,
  approval: model.ApprovalState,
  decision: PublishDecision,
): model.Transition {
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
function released(
  run: model.RunState,
  approval: model.ApprovalState,
  { digest, resolutions, assertion }: PublishDecision,
) {
  const approves = approval.request.kind === 'publish';
  return {
    approved: approves ? digest : undefined,
    confirmed: approves && assertion !== undefined ? (true as const) : undefined,
    resolutions: resolutions ?? run.publish_release?.resolutions,
  };
}

const rejected = (by: string, message: string | undefined): contract.Problem => ({
  code: 'publish_rejected',
  message: `Not published: ${by} rejected it.${message === undefined ? '' : ` They say: ${message}`}`,
  next: 'Publish again, or download the patch.',
});

export const expirePublish = (run: model.RunState, approval: model.ApprovalState): model.Transition => ({
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

const stillParked = (run: model.RunState, approval: model.ApprovalState): model.Condition[] => [
  model.publicationIs('parked'),
  model.approvalIs(approval.id, 'pending'),
  model.parkedIs(run.parked),
];

/** A publish waiting for a decision ends with the workspace. No fork may be waiting for its copy: the caller checks `run.forks`. */
export function requestDiscard(run: model.RunState, by: string): model.Transition {
  const parked = run.publication === 'parked' && run.publish_approval !== undefined;
  return {
    if: [
      model.runIs('succeeded', 'failed', 'canceled'),
      model.publicationIs(run.publication),
      model.parkedIs(run.parked),
      model.fieldIs(model.runField.forks, run.forks),
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

export const recordDiscarded = (): model.Transition => ({
  if: [model.publicationIs('discarding')],
  events: [{ type: 'workspace.discarded', data: {} }],
});
