import type { CallerErrorCode } from '@holdpoint/callers';
import type { EngineErrorCode } from '@holdpoint/engine';
import type { RedisTroubleCode } from '@holdpoint/engine/redis';
import type { SecretErrorCode } from '@holdpoint/secrets';
import type { WorkspaceErrorCode } from '@holdpoint/workspace';

/** HTTP status and title of a problem. */
export interface ProblemKind {
  status: number;
  title: string;
}

/** The API's own errors, with the next step for each. */
export const apiProblems = {
  unauthorized: {
    status: 401,
    title: 'Not authorized',
    next: "Send `Authorization: Bearer <key>`. A caller with keys:admin creates keys; the first one is in the file api-key of the server's data directory.",
  },
  missing_scope: {
    status: 403,
    title: 'Missing scope',
    next: 'Have a caller with keys:admin create a key with this scope.',
  },
  unknown_scope: {
    status: 422,
    title: 'Unknown scope',
    next: 'Use the scopes that the page docs/callers.md lists; GET /v1/me shows those of your key. Nothing was changed.',
  },
  misdirected_request: {
    status: 421,
    title: 'Wrong host name',
    next: 'Use http://127.0.0.1 or http://localhost with the port of the server; or name the host in HOLDPOINT_API_HOSTS and restart the API.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'Origin not allowed',
    next: 'Call the API from a program, or from a page that this server itself serves.',
  },
  not_found: { status: 404, title: 'Not found', next: 'Read /openapi.json or /docs for the paths of this API.' },
  method_not_allowed: { status: 405, title: 'Method not allowed', next: 'Use one of the methods in the header Allow.' },
  bad_request: { status: 400, title: 'Bad request', next: 'Correct the request and send it again.' },
  malformed_json: { status: 400, title: 'Malformed JSON', next: 'Send a JSON object as the body.' },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    next: 'Send the body as application/json.',
  },
  json_too_deep: { status: 422, title: 'JSON too deep', next: 'Send fewer levels; nothing was changed.' },
  body_too_large: { status: 413, title: 'Body too large', next: 'Send at most 32 MiB.' },
  invalid_request: {
    status: 422,
    title: 'Invalid request',
    next: 'Correct what `errors` names and send the request again; nothing was changed.',
  },
  unknown_toolset: {
    status: 422,
    title: 'Unknown toolset',
    next: 'Use one of the toolsets in GET /v1/toolsets; nothing was changed.',
  },
  invalid_settings: {
    status: 422,
    title: 'Invalid settings of the toolset',
    next: 'Correct what `errors` names; GET /v1/toolsets/{name} shows the settings of a toolset. Nothing was changed.',
  },
  invalid_output_schema: {
    status: 422,
    title: 'Invalid output_schema',
    next: 'Correct the JSON Schema (draft 2020-12, or draft 7 with `$schema`); nothing was changed.',
  },
  invalid_plan: {
    status: 422,
    title: 'Invalid plan',
    next: 'Correct the steps that `errors` names; GET /v1/tools shows what each tool takes. Nothing was changed.',
  },
  invalid_policy: {
    status: 422,
    title: 'Invalid policy',
    next: 'Correct the rules that `errors` names; GET /v1/tools shows the tools and their effects. Nothing was changed.',
  },
  unknown_policy: {
    status: 422,
    title: 'Unknown policy',
    next: 'Use one of the policies in GET /v1/policies, or send the document. Nothing was changed.',
  },
  invalid_permissions: {
    status: 422,
    title: 'Invalid permissions',
    next: 'Write fs:read, fs:write:GLOB, exec:PROGRAM, net:HOST or graph:read, and globs of paths in the workspace; nothing was changed.',
  },
  invalid_agents: {
    status: 422,
    title: 'Invalid kinds of sub-agents',
    next: 'Correct the kinds that `errors` names; GET /v1/tools shows the tools. Nothing was changed.',
  },
  permissions_widened: {
    status: 422,
    title: 'More than the run may do',
    next: 'A fork has at most the permissions and modes of the run that it continues. Ask for less, or submit a new run.',
  },
  invalid_network: {
    status: 422,
    title: 'Invalid network allowlist',
    next: 'Write host, host:port or *.host:port; nothing was changed.',
  },
  unknown_secret: {
    status: 422,
    title: 'Unknown secret',
    next: 'Use one of the names in GET /v1/secrets, or set the secret first; nothing was changed.',
  },
  invalid_secret_use: {
    status: 422,
    title: 'A secret cannot be used like this',
    next: 'Correct what `errors` names: the host of a header is on the network allowlist of the run, too. Nothing was changed.',
  },
  secret_in_request: {
    status: 422,
    title: 'A request with the value of a secret',
    next: 'Name the secret in `secrets` and use its variable, or let the proxy add it; nothing was stored.',
  },
  limit_above_ceiling: {
    status: 422,
    title: 'A limit is above what the operator allows',
    next: 'Ask for less, or leave the limit out to have as much as is allowed; nothing was changed.',
  },
  model_not_configured: {
    status: 422,
    title: 'No model configured',
    next: 'Set HOLDPOINT_MODEL=provider/model and the key of the provider, restart, and try again; or send a plan.',
  },
  invalid_model_name: {
    status: 422,
    title: 'Invalid model name',
    next: 'Name a model as provider/model; nothing was changed.',
  },
  toolset_not_found: { status: 404, title: 'No such toolset', next: 'Use one of the toolsets in GET /v1/toolsets.' },
  snapshot_not_found: {
    status: 404,
    title: 'No such snapshot',
    next: 'Use a snapshot that the events of this run name, or leave the parameter out.',
  },
  not_validated: {
    status: 404,
    title: 'No validation',
    next: 'Publish the run: its validators run then. A run without validators has no validation.',
  },
  publish_conflict: {
    status: 409,
    title: 'Nothing was published',
    next: 'Read `conflicts`, bring the source to a state that fits, and publish again; or download the patch.',
  },
  validator_failed: {
    status: 409,
    title: 'A validator failed',
    next: 'Read its output (GET /v1/runs/{id}/validation), fix what it found in a fork of this run, and publish the fork. Where the cause lies outside of the files, publish again: the validators run again.',
  },
  publish_rejected: {
    status: 409,
    title: 'The publish was rejected',
    next: 'Publish again, or download the patch.',
  },
  publish_expired: {
    status: 409,
    title: 'Not decided in time',
    next: 'Publish again, and have the approval decided in time.',
  },
  publish_failed: {
    status: 409,
    title: 'The publish failed',
    next: 'Read the run to see why; the source is as it was. Then publish again, or download the patch.',
  },
  storage_full: {
    status: 507,
    title: 'No disk space',
    next: 'Free space on the disk of the data directory: discard runs, or remove other files. Then send it again; what was accepted continues by itself.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    next: 'Look for the request_id in the log of the server, and report the error with these lines of the log.',
  },
} as const satisfies Record<string, ProblemKind & { next: string }>;
export type ApiProblemCode = keyof typeof apiProblems;

export const engineProblems: Record<EngineErrorCode, ProblemKind> = {
  run_not_found: { status: 404, title: 'No such run' },
  step_not_found: { status: 404, title: 'No such step' },
  approval_not_found: { status: 404, title: 'No such approval' },
  already_decided: { status: 409, title: 'Already decided' },
  action_changed: { status: 409, title: 'The action has changed' },
  decision_not_allowed: { status: 422, title: 'Decision not allowed' },
  not_a_decider: { status: 403, title: 'Not a decider' },
  not_opened: { status: 409, title: 'Not opened' },
  invalid_delegation: { status: 422, title: 'Invalid delegation' },
  rule_not_found: { status: 404, title: 'No such rule' },
  invalid_decision: { status: 422, title: 'Invalid decision' },
  run_not_active: { status: 409, title: 'The run is not active' },
  step_settled: { status: 409, title: 'The step is over' },
  step_not_begun: { status: 409, title: 'The call has not begun' },
  run_not_open: { status: 409, title: 'The run is not open' },
  calls_pending: { status: 409, title: 'Calls are not settled' },
  too_many_calls: { status: 429, title: 'Too many calls wait' },
  calls_not_found: { status: 404, title: 'No such calls' },
  tools_changed: { status: 409, title: 'The tools have changed' },
  policy_not_found: { status: 404, title: 'No such policy' },
  policy_changed: { status: 409, title: 'The policy has changed' },
  policy_not_allowed: { status: 403, title: 'Policy not allowed' },
  invalid_policy_name: { status: 422, title: 'Invalid name of a policy' },
  managed_by_file: { status: 409, title: 'A file has this policy' },
  too_many_policies: { status: 409, title: 'Too many policies' },
  task_not_found: { status: 404, title: 'No such task' },
  run_not_retryable: { status: 409, title: 'The run cannot be retried' },
  run_not_publishable: { status: 409, title: 'A sub-agent publishes nothing' },
  limit_reached_above: { status: 409, title: 'A run above has reached its limit' },
  run_not_paused: { status: 409, title: 'The run is not paused' },
  run_without_model: { status: 409, title: 'The run has no model' },
  run_not_idle: { status: 409, title: 'A step is still running' },
  step_not_settled: { status: 409, title: 'The step is not settled' },
  workspace_not_ready: { status: 409, title: 'No workspace yet' },
  workspace_discarded: { status: 410, title: 'The workspace is gone' },
  external_effects: { status: 409, title: 'Effects that cannot be undone' },
  fork_pending: { status: 409, title: 'A fork still needs the workspace' },
  prepare_refused: { status: 422, title: 'Prepare refused' },
  invalid_fork: { status: 422, title: 'Invalid fork' },
  run_not_finished: { status: 409, title: 'The run has not ended' },
  run_not_succeeded: { status: 409, title: 'The run did not succeed' },
  dry_run: { status: 409, title: 'A dry run publishes nothing' },
  publication_closed: { status: 409, title: 'The change set is closed' },
  publication_pending: { status: 409, title: 'A publish is under way' },
  snapshot_changed: { status: 409, title: 'The snapshot has changed' },
  too_many_runs: { status: 429, title: 'Too many active runs' },
  idempotency_key_reused: { status: 422, title: 'Idempotency key used again' },
  blob_missing: { status: 500, title: 'Stored data is missing' },
  blob_damaged: { status: 500, title: 'Stored data is damaged' },
  superseded: { status: 503, title: 'Another worker took over' },
  contended: { status: 503, title: 'Too many writers' },
};

export const secretProblems: Record<SecretErrorCode, ProblemKind & { code: string }> = {
  ESECRETUNKNOWN: { status: 404, code: 'secret_not_found', title: 'No such secret' },
  ESECRETVALUE: { status: 422, code: 'secret_value_invalid', title: 'Unusable value' },
  ESECRETACCESS: { status: 500, code: 'secret_unreadable', title: 'The secret cannot be read' },
  ESECRETSTORE: { status: 500, code: 'secret_store_damaged', title: 'The secret store is damaged' },
  ESECRETSTOREOFF: { status: 409, code: 'secret_store_off', title: 'No secret store' },
  ESECRETTAKEN: { status: 409, code: 'secret_taken', title: 'The name is taken' },
};

export const callerProblems: Record<CallerErrorCode, ProblemKind> = {
  unauthorized: { status: 401, title: 'Not authorized' },
  key_not_found: { status: 404, title: 'No such key' },
  invalid_key: { status: 422, title: 'Invalid key' },
  key_not_allowed: { status: 403, title: 'More than the caller has' },
  key_name_taken: { status: 409, title: 'The name is taken' },
  key_revoked: { status: 409, title: 'The key was revoked' },
  key_in_file: { status: 409, title: 'The key is in the key file' },
  key_changed: { status: 409, title: 'The key has changed' },
  too_many_streams: { status: 429, title: 'Too many open streams' },
};

/** Why Redis refuses a command or does not answer. */
export const redisProblems: Record<RedisTroubleCode, ProblemKind> = {
  unavailable: { status: 503, title: 'Redis does not answer' },
  redis_timeout: { status: 503, title: 'Redis does not answer in time' },
  redis_full: { status: 503, title: 'Redis is full' },
  redis_read_only: { status: 503, title: 'Redis is read-only' },
  redis_cannot_save: { status: 503, title: 'Redis cannot write to its disk' },
  redis_without_replicas: { status: 503, title: 'Redis has too few replicas' },
  redis_loading: { status: 503, title: 'Redis is loading' },
  redis_busy: { status: 503, title: 'Redis is busy' },
  redis_cluster: { status: 503, title: 'Redis Cluster is not supported' },
  redis_denied: { status: 503, title: 'Redis refuses this user' },
};

/** The codes of the workspace package look like errno; on the wire all codes have the same form. */
export const workspaceProblems: Record<WorkspaceErrorCode, ProblemKind & { code: string }> = {
  ESOURCEMISSING: { status: 422, code: 'source_missing', title: 'The source does not exist' },
  ESOURCENOTDIRECTORY: { status: 422, code: 'source_not_directory', title: 'The source is no directory' },
  ESOURCENOTGIT: { status: 422, code: 'source_not_git', title: 'The source is no git repository' },
  ESOURCEFORMAT: { status: 422, code: 'source_format', title: 'The source cannot be read' },
  ESOURCEPARTIAL: { status: 422, code: 'source_partial', title: 'The source is a partial clone' },
  ESOURCESPARSE: { status: 422, code: 'source_sparse', title: 'The source is a sparse checkout' },
  ESOURCENOTARCHIVE: { status: 422, code: 'source_not_archive', title: 'The source is no archive' },
  EARCHIVE: { status: 422, code: 'archive_invalid', title: 'The archive cannot be used' },
  EGLOBINVALID: { status: 422, code: 'glob_invalid', title: 'Invalid glob' },
  ESOURCETOOLARGE: { status: 422, code: 'source_too_large', title: 'The source is too large' },
  ESOURCEPATHS: { status: 422, code: 'source_paths', title: 'A path of the source is too long' },
  ESOURCEUNREADABLE: { status: 422, code: 'source_unreadable', title: 'The source cannot be read' },
  ESOURCEINDATADIR: { status: 422, code: 'source_in_data_directory', title: 'The source is in the data directory' },
  ESOURCEFORBIDDEN: { status: 422, code: 'source_forbidden', title: 'The source is out of bounds' },
  ESOURCEFOLDER: { status: 422, code: 'source_folder', title: 'A folder of the source cannot be shown' },
  ESOURCEFOLDERLOST: { status: 409, code: 'source_folder_lost', title: 'A folder of the source is gone' },
  ESOURCEBROKEN: { status: 422, code: 'source_broken', title: 'The source is damaged' },
  EPUBLISHFORBIDDEN: { status: 422, code: 'publish_forbidden', title: 'The target is out of bounds' },
  EREMOTEFORBIDDEN: { status: 422, code: 'remote_forbidden', title: 'The remote is out of bounds' },
  EREMOTEAUTH: { status: 422, code: 'remote_credentials', title: 'The remote refuses the credentials' },
  EREMOTEMISSING: { status: 422, code: 'remote_missing', title: 'The remote has no such repository' },
  EREMOTEHOSTKEY: { status: 422, code: 'remote_host_key', title: 'The key of the host is not known' },
  EREMOTETOOLARGE: { status: 422, code: 'remote_too_large', title: 'The remote is too large' },
  EREMOTEREFUSED: { status: 409, code: 'remote_refused', title: 'The remote refuses the push' },
  EREMOTEOFF: { status: 422, code: 'remote_off', title: 'Remotes cannot be used' },
  EREMOTEUNREACHABLE: { status: 503, code: 'remote_unreachable', title: 'The remote does not answer' },
  EREFUNKNOWN: { status: 422, code: 'ref_unknown', title: 'Unknown git ref' },
  ERUNIDINVALID: { status: 404, code: 'run_not_found', title: 'No such run' },
  EPATHINVALID: { status: 422, code: 'path_invalid', title: 'Invalid path' },
  EARCHIVEUNSAFE: { status: 422, code: 'archive_unsafe', title: 'The archive would be unsafe to unpack' },
  EPATHMISSING: { status: 404, code: 'path_not_found', title: 'No such file' },
  ECONTENTUNKNOWN: { status: 409, code: 'content_unknown', title: 'No snapshot holds the content' },
  ESECRETWRITTEN: { status: 409, code: 'secret_written', title: 'A file would hold a secret' },
  EWORKSPACEMISSING: { status: 410, code: 'workspace_gone', title: 'The workspace is gone' },
  ELEASESTALE: { status: 503, code: 'workspace_taken_over', title: 'Another worker took over' },
  ELAYERLOST: { status: 503, code: 'unavailable', title: 'A tree must be built again' },
  EHEADMOVED: { status: 503, code: 'workspace_taken_over', title: 'Another worker took over' },
  EWORKSPACEBUSY: { status: 503, code: 'workspace_busy', title: 'The workspace is busy' },
  EWORKSPACECORRUPT: { status: 500, code: 'workspace_corrupt', title: 'The workspace is damaged' },
  ESNAPSHOTUNKNOWN: { status: 404, code: 'snapshot_not_found', title: 'No such snapshot' },
  ETOOMANYFILES: { status: 422, code: 'too_many_files', title: 'Too many files' },
  ECONFLICTGONE: { status: 409, code: 'conflict_gone', title: 'The versions of the conflict are gone' },
  EDIFFTOOLARGE: { status: 422, code: 'diff_too_large', title: 'The diff is too large' },
  EIGNORERULES: { status: 422, code: 'ignore_rules_too_complex', title: 'The ignore rules are too complex' },
  ENOTPUBLISHABLE: { status: 409, code: 'not_publishable', title: 'Nothing to publish to' },
  EBRANCHINVALID: { status: 422, code: 'branch_invalid', title: 'Invalid branch name' },
  ESOURCEBUSY: { status: 503, code: 'source_busy', title: 'The source is busy' },
  EGITREFUSED: { status: 409, code: 'git_refused', title: 'git refuses the content' },
  EGITMISSING: { status: 500, code: 'git_missing', title: 'git is not installed' },
  EGITFAILED: { status: 503, code: 'git_failed', title: 'git failed' },
  ENOSPC: { status: 507, code: 'storage_full', title: 'No disk space' },
  EIO: { status: 503, code: 'storage_failed', title: 'Storage failed' },
};
