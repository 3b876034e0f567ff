/** Field names of a run's state hash. One flat hash, so that a script can test and set any of them at once. */
export const runField = {
  seq: 'seq',
  status: 'status',
  header: 'header',
  spec: 'spec',
  createdAt: 'created_at',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  /** Number of the last planned turn; 0 before the first. */
  turn: 'turn',
  /** JSON array: the ids of that turn's steps, in order. */
  turnSteps: 'turn_steps',
  /** Steps of that turn which are not settled. */
  open: 'open',
  /** Approvals that are pending. */
  parked: 'parked',
  /** The turn at which the run was last resumed from a pause: limits count from there. */
  budgetFrom: 'budget_from',
  base: 'base',
  snapshot: 'snapshot',
  message: 'message',
  /** JSON: why the run is paused or failed. */
  reason: 'reason',
  /** `due` while the tree is not yet what `snapshot` says: an undo was recorded and has not been done. */
  restore: 'restore',
  publication: 'publication',
  /** JSON: what the publish that is or was under way is to do. */
  publishRequest: 'publish_request',
  /** JSON: what people decided about it. */
  publishRelease: 'publish_release',
  /** JSON: the snapshot that validators were last run on, and whether it passed. */
  validated: 'validated',
  /** The approval that a parked publish waits for. */
  publishApproval: 'publish_approval',
  /** JSON: what became of it. */
  publicationDetail: 'publication_detail',
  /** JSON: the run that this one goes on from. */
  forkedFrom: 'forked_from',
  /** How many runs were forked from this one. */
  forks: 'forks',
  named: (name: string) => `named:${name}`,
  fork: (child: string) => `fork:${child}`,
} as const;

const stepFields = [
  'status',
  'attempt',
  'call',
  'args',
  'effect',
  'approval',
  'approved_snapshot',
  'snapshot',
  'outcome',
  'worker',
  'created_at',
  'started_at',
  'settled_at',
] as const;
export type StepField = (typeof stepFields)[number];

export const stepField = (stepId: string, field: StepField): string => `${stepId}:${field}`;
export const allStepFields = stepFields;

const approvalFields = ['status', 'request', 'decision'] as const;
export type ApprovalField = (typeof approvalFields)[number];

export const approvalField = (approvalId: string, field: ApprovalField): string => `${approvalId}:${field}`;
export const allApprovalFields = approvalFields;
