/** An error of the engine with a stable code. `retryable`: the queue may try again. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;
  readonly retryable: boolean;
  readonly next: string;
  /** Seconds until the same request may be accepted. */
  readonly retryAfterS: number | undefined;

  /** @param options.next the next action, when the code alone does not name the action */
  constructor(
    code: EngineErrorCode,
    message: string,
    options: { cause?: unknown; next?: string; retryAfterS?: number } = {},
  ) {
    super(message, options);
    this.name = 'EngineError';
    this.code = code;
    this.retryable = registry[code].retryable;
    this.next = options.next ?? registry[code].next;
    this.retryAfterS = options.retryAfterS;
  }
}

const registry = {
  run_not_found: { retryable: false, next: 'List the runs with GET /v1/runs.' },
  step_not_found: { retryable: false, next: "List the run's steps with GET /v1/runs/{id}/steps." },
  approval_not_found: { retryable: false, next: 'List the open approvals with GET /v1/approvals?status=pending.' },
  already_decided: {
    retryable: false,
    next: 'The first decision stands. Read the approval (GET /v1/approvals/{id}) to see that decision.',
  },
  action_changed: { retryable: false, next: 'Read the approval again and decide on the digest it shows now.' },
  decision_not_allowed: { retryable: false, next: 'Use one of the allowed_decisions of the approval.' },
  not_a_decider: {
    retryable: false,
    next: 'Have a caller decide that `deciders` of the approval names. A caller who may decide can let you do so: POST /v1/approvals/{id}/delegate. Nothing was decided.',
  },
  passkey_required: {
    retryable: false,
    next: 'Decide on the page of the approval in the console (/approvals/{id}), which asks for your passkey. Nothing was decided.',
  },
  passkey_refused: {
    retryable: false,
    next: 'Ask for a new challenge (POST /v1/approvals/{id}/challenge) and have your passkey sign that one. Nothing was decided.',
  },
  not_opened: {
    retryable: false,
    next: 'Read the whole with GET /v1/approvals/{id}/content, and send its content_digest with the decision. Nothing was decided.',
  },
  no_preview: {
    retryable: false,
    next: 'Decide on what the approval shows: only a held call whose effect stays in the workspace can run before the decision. Nothing was changed.',
  },
  invalid_delegation: { retryable: false, next: 'Name another caller, or decide yourself; nothing was changed.' },
  rule_not_found: { retryable: false, next: 'List the remembered rules with GET /v1/rules.' },
  invalid_decision: { retryable: false, next: 'Correct the decision and send it again; nothing was decided.' },
  prepare_refused: {
    retryable: false,
    next: 'Leave the command out of `prepare`, or have it run by a step, where a person can be asked. Nothing was submitted.',
  },
  run_not_active: { retryable: false, next: 'Read the run (GET /v1/runs/{id}) to see how it ended, or why it ends.' },
  step_settled: { retryable: false, next: 'Read the step to see its outcome. Nothing was changed.' },
  step_not_begun: {
    retryable: false,
    next: 'A run that has ended makes no calls, unless it is retried: cancel the call then. Nothing was changed.',
  },
  run_not_open: {
    retryable: false,
    next: 'Only a run that was submitted with `open` takes calls. Write to any other run with POST /v1/runs/{id}/messages.',
  },
  calls_pending: {
    retryable: true,
    next: 'Wait until all calls are settled, resume the run if it is paused, then finish it; or cancel it.',
  },
  too_many_calls: {
    retryable: true,
    next: 'Wait until some of the calls that were sent are settled, then send these again. Nothing was recorded.',
  },
  calls_not_found: { retryable: false, next: "List the run's steps with GET /v1/runs/{id}/steps." },
  tools_changed: {
    retryable: false,
    next: 'Resume with accept_new_version to continue with the current tools, or run workers of the version that the run started with.',
  },
  task_not_found: { retryable: false, next: "List the run's tasks with GET /v1/runs/{id}/tasks." },
  run_not_retryable: {
    retryable: false,
    next: 'Only a failed, canceled or paused run whose change set was not published or discarded can be retried.',
  },
  run_not_wakeable: {
    retryable: false,
    next: 'Only a run of a model that has succeeded can be woken, while no publish of it is under way. Fork it instead.',
  },
  run_without_model: { retryable: false, next: 'Resume the run without a model. A fork may have another goal.' },
  limit_reached_above: {
    retryable: false,
    next: 'Resume the run with the reached limit, which grants as much again to all of its sub-agents; or cancel that run.',
  },
  run_not_paused: {
    retryable: false,
    next: 'Only a paused run, or a run that waits for its model, can be resumed. Read the run to see its status; a failed or canceled run can be retried.',
  },
  run_not_idle: { retryable: true, next: 'Wait until the running steps are settled, then try again.' },
  step_not_settled: { retryable: false, next: 'Name an earlier step, or wait until this step is settled.' },
  workspace_not_ready: { retryable: true, next: 'Wait until the run has started.' },
  workspace_discarded: { retryable: false, next: 'Submit the run again: a discarded workspace does not come back.' },
  external_effects: {
    retryable: false,
    next: 'Confirm that these effects stay as they are (keep_external_effects), or undo fewer steps.',
  },
  fork_pending: { retryable: true, next: 'Wait until the forks of this run have started, then try again.' },
  invalid_fork: { retryable: false, next: 'Correct the request; nothing was changed.' },
  run_not_finished: { retryable: false, next: 'Wait until the run has ended, or cancel it.' },
  run_not_succeeded: { retryable: false, next: 'Read the diff, or download it as a patch and apply it yourself.' },
  run_not_publishable: {
    retryable: false,
    next: 'Merge what the sub-agent changed into the run that it works for, and publish that run.',
  },
  dry_run: {
    retryable: false,
    next: 'Read its diff, then submit the run again without modes.dry_run; or download the patch and apply it yourself.',
  },
  publication_closed: { retryable: false, next: 'Read the run: its change set is published or discarded already.' },
  publication_pending: {
    retryable: false,
    next: 'Wait until the publish is done, or decide on its approval; then try again.',
  },
  snapshot_changed: { retryable: false, next: 'Read the diff again and publish the snapshot that the diff names.' },
  policy_not_found: {
    retryable: false,
    next: 'List the policies with GET /v1/policies, and the versions of one with GET /v1/policies/{name}/versions.',
  },
  policy_changed: { retryable: false, next: 'Read the policy again and change the version that it shows now.' },
  policy_not_allowed: {
    retryable: false,
    next: 'Use another name: the policy of this name binds the runs of every tenant.',
  },
  invalid_policy_name: { retryable: false, next: 'Use another name for the policy; nothing was changed.' },
  managed_by_file: {
    retryable: false,
    next: 'Change the file: the processes follow it within a second or two. Or unset HOLDPOINT_POLICY and start them again.',
  },
  too_many_policies: {
    retryable: false,
    next: 'Delete policies that no run needs any longer, or add a version to another policy.',
  },
  too_many_runs: {
    retryable: true,
    next: 'Wait until a run of the tenant has ended, or cancel one; the operator sets the limit with HOLDPOINT_TENANT_RUNS.',
  },
  quota_reached: {
    retryable: true,
    next: 'Wait until the quota frees, or have the operator raise it; GET /v1/quotas shows it.',
  },
  quotas_changed: { retryable: false, next: 'Read the quotas again, and replace the version that they have now.' },
  idempotency_key_reused: { retryable: false, next: 'Use a new Idempotency-Key for a different request.' },
  blob_missing: { retryable: false, next: 'Restore the data directory: the blob store and Redis belong together.' },
  blob_damaged: {
    retryable: false,
    next: 'Restore the data directory from a backup: the stored content is damaged.',
  },
  superseded: { retryable: true, next: 'Nothing to do: the worker that has the job continues it.' },
  contended: { retryable: true, next: 'Send the request again.' },
} as const;
export type EngineErrorCode = keyof typeof registry;
