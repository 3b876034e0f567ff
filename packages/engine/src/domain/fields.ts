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
  /** JSON: what was used up when the run was last resumed from a pause: limits count from there. */
  budgetFrom: 'budget_from',
  /** Steps that were planned. */
  steps: 'steps',
  /** Milliseconds in the status running, less the time (since the epoch) at which it began when it is running now. */
  activeMs: 'active_ms',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  /** Millionths of a US dollar. */
  cost: 'cost_micros',
  /** JSON: how often the last turns were the same, or failed altogether. */
  repetition: 'repetition',
  /** JSON: the version of each tool that the run was begun with. */
  tools: 'tools',
  /** Messages that people sent, and how many of them the planner has read. */
  messages: 'messages',
  messagesRead: 'messages_read',
  /** Tasks that are not over. */
  openTasks: 'open_tasks',
  /** Sub-agents that this run began itself. */
  agents: 'agents',
  /** JSON: what its sub-agents said of themselves, all of them together (`agent-report.ts`). */
  agentsTotal: 'agents_total',
  /** JSON: how the run ends as soon as its tasks are over. */
  closing: 'closing',
  base: 'base',
  snapshot: 'snapshot',
  message: 'message',
  /** JSON: why the run is paused or failed. */
  reason: 'reason',
  /** Epoch of the tree that is the run's workspace now: rises with every take-over, and an older tree is nobody's any more. */
  lease: 'lease',
  /** The step or task that alone may change the tree and take snapshots now; empty: none. */
  writer: 'writer',
  /**
   * The writer that was let at the tree last: `<step>.<attempt>`, `<task>`, or `validators.<snapshot>`; empty: none since the tree was made.
   * The tree carries the same name, so a log or a tree that went back to an earlier time is noticed.
   */
  head: 'head',
  /** Background commands that began on this tree and whose changes no snapshot is known to hold: until it is 0, the tree may be ahead of `snapshot`. */
  uncaptured: 'uncaptured',
  /** `due` while the tree is not what `snapshot` says: after an attempt in doubt, or an undo. */
  restore: 'restore',
  publication: 'publication',
  /** JSON: what the publish that is or was under way is to do. */
  publishRequest: 'publish_request',
  /** JSON: what people decided about it. */
  publishRelease: 'publish_release',
  /** The snapshot that validators run on; left over when their worker was lost. */
  validating: 'validating',
  /** JSON: the snapshot that validators were last run on, and whether it passed. */
  validated: 'validated',
  /** The approval that a parked publish waits for. */
  publishApproval: 'publish_approval',
  /** JSON: what became of it. */
  publicationDetail: 'publication_detail',
  /** JSON: the run that this one goes on from. */
  forkedFrom: 'forked_from',
  /** JSON: of a sub-agent, the run and task that it works for. */
  parent: 'parent',
  /** How many runs were forked from this one. */
  forks: 'forks',
  named: (name: string) => `named:${name}`,
  fork: (child: string) => `fork:${child}`,
  /** The task beneath which a step of another run has taken one of this run's sub-agents (`reserve-agent.ts`). */
  reserved: (stepId: string) => `reserved:${stepId}`,
} as const;

const stepFields = [
  'status',
  'attempt',
  'interruptions',
  'call',
  'args',
  'effect',
  'approval',
  'approved_snapshot',
  'snapshot',
  'outcome',
  'deferred',
  'task',
  'worker',
  'created_at',
  'started_at',
  'settled_at',
] as const;
export type StepField = (typeof stepFields)[number];

export const stepField = (stepId: string, field: StepField): string => `${stepId}:${field}`;
export const allStepFields = stepFields;

const taskFields = [
  'status',
  'about',
  'kill',
  'worker',
  'epoch',
  'report',
  'outcome',
  'created_at',
  'started_at',
  'ended_at',
] as const;
export type TaskField = (typeof taskFields)[number];

export const taskField = (taskId: string, field: TaskField): string => `${taskId}:${field}`;
export const allTaskFields = taskFields;

const approvalFields = ['status', 'request', 'decision', 'superseded'] as const;
export type ApprovalField = (typeof approvalFields)[number];

export const approvalField = (approvalId: string, field: ApprovalField): string => `${approvalId}:${field}`;
export const allApprovalFields = approvalFields;
