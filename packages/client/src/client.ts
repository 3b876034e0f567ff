import { isTerminal, type PolicyVersion, type TraceContext, type UnknownContent } from '@holdpoint/contract';
import {
  type ApiBounds,
  type Approval,
  type ApprovalContent,
  type Attempt,
  type AuditHead,
  type AuditRecord,
  type AuditReport,
  apiBoundsSchema,
  approvalContentSchema,
  approvalPageSchema,
  approvalSchema,
  attemptListSchema,
  auditHeadSchema,
  auditPageSchema,
  auditReportSchema,
  type CreateKey,
  type CreateRun,
  type Decide,
  type DecidedMany,
  type DecideMany,
  type Delegate,
  type Diff,
  type DryRun,
  decidedManySchema,
  diffSchema,
  eventPageSchema,
  explanationSchema,
  type FileEntry,
  type FinishRun,
  type ForkRun,
  fileListSchema,
  healthSchema,
  type IssuedKey,
  issuedKeySchema,
  jsonLines,
  type Key,
  keyPageSchema,
  keySchema,
  type LogLevelChange,
  type LogLevelReached,
  logLevelReachedSchema,
  type Me,
  meSchema,
  type Page,
  type PolicyExplanation,
  type PolicyReplay,
  type PolicySummary,
  type ProposeRules,
  type Publication,
  type Publish,
  type PublishPreview,
  type PutPolicy,
  policyListSchema,
  policySummarySchema,
  policyVersionPageSchema,
  publicationSchema,
  publishPreviewSchema,
  type Queue,
  queueListSchema,
  type Readiness,
  type ReceivedCalls,
  type RememberedRule,
  type ReplayPolicy,
  type ResumeRun,
  type RetryRun,
  type RotateKey,
  type RuleProposals,
  type Run,
  type RunDetail,
  type RunEvent,
  readinessSchema,
  receivedCallsSchema,
  rememberedRulePageSchema,
  rememberedRuleSchema,
  replayPageSchema,
  ruleProposalsSchema,
  runChanged,
  runDetailSchema,
  runPageSchema,
  runSchema,
  type Secret,
  type SendCalls,
  type SentMessage,
  type SetSecret,
  type Snapshot,
  type Step,
  type StepDetail,
  type Stuck,
  secretListSchema,
  secretSchema,
  sentMessageSchema,
  snapshotListSchema,
  stepDetailSchema,
  stepPageSchema,
  storedVersionSchema,
  stuckSchema,
  type Task,
  type TaskOutput,
  type TaskOutputQuery,
  type TestNamedPolicy,
  type TestPolicy,
  type Tool,
  type Toolset,
  type Trace,
  taskListSchema,
  taskOutputSchema,
  taskSchema,
  toolListSchema,
  toolsetListSchema,
  toolsetSchema,
  traceSchema,
  type Undone,
  type UndoRun,
  undoneSchema,
  type Validation,
  validationSchema,
  type Worker,
  workerListSchema,
} from '@holdpoint/contract/wire';
import { followLive, followRun, type LiveText } from './follow-run.ts';
import { type Fetch, openTransport, read } from './request.ts';
import { follow } from './stream.ts';

export interface ClientOptions {
  /** For example `http://127.0.0.1:4747`. */
  baseUrl: string;
  key: string;
  /** @default undici's */
  fetch?: Fetch;
}

export interface Options {
  signal?: AbortSignal | undefined;
}
export interface PageQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}
export interface ApprovalQuery {
  status?: readonly Approval['status'][] | undefined;
  run_id?: string | undefined;
  tool?: string | undefined;
  /** Name of the rule that holds the call. */
  rule?: string | undefined;
  /** `name=value` of a label of the run. */
  label?: string | undefined;
  older_than_s?: number | undefined;
}
export interface AuditQuery {
  /** ISO 8601, UTC: records of what happened then or later. */
  since?: string | undefined;
  run_id?: string | undefined;
}
export interface Snapshots {
  /** @default the snapshot the run began with */
  from?: string | undefined;
  /** @default the snapshot the run is at */
  to?: string | undefined;
  path?: string | undefined;
  /** With what the ignore rules of a git source match. @default as the run says */
  include_ignored?: boolean | undefined;
}

/** The API as functions. Each throws `ApiError` for what the server refuses and `ConnectionError` when there is no answer. */
export type Client = ReturnType<typeof createClient>;

/**
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:4747', key });
 * const { run } = await client.createRun({ prompt: 'Fix the failing test', workspace: { source: { type: 'directory', path } } });
 * for await (const event of client.events(run.id)) process.stdout.write(`${event.type}\n`);
 */
export function createClient(options: ClientOptions) {
  const transport = openTransport(options);
  const at = (collection: string, id: string, rest = '') => `/v1/${collection}/${encodeURIComponent(id)}${rest}`;
  const { ask } = transport;

  const getRun = async (id: string, { signal }: Options = {}): Promise<RunDetail> =>
    (await ask({ path: at('runs', id), signal }, runDetailSchema)).body;

  return {
    /**
     * `created` is false when the idempotency key met the run of an earlier request. `traceparent`: the caller's span, by W3C Trace Context;
     * the trace of the run continues it.
     */
    async createRun(
      body: CreateRun,
      {
        idempotencyKey,
        traceparent,
        tracestate,
        signal,
      }: Options & { idempotencyKey?: string | undefined } & Partial<TraceContext> = {},
    ): Promise<{ run: Run; created: boolean }> {
      const headers = { 'idempotency-key': idempotencyKey, traceparent, tracestate };
      const answer = await ask({ method: 'POST', path: '/v1/runs', body, headers, signal }, runSchema);
      return { run: answer.body, created: answer.status === 201 };
    },

    /** Newest first. */
    async listRuns(
      query: PageQuery & { status?: readonly Run['status'][]; label?: string; created_after?: string } = {},
      { signal }: Options = {},
    ): Promise<Page<Run>> {
      const { status, ...rest } = query;
      return (await ask({ path: '/v1/runs', query: { ...rest, status: status?.join(',') }, signal }, runPageSchema))
        .body;
    },

    getRun,

    cancelRun: async (id: string, body: { message?: string } = {}, { signal }: Options = {}): Promise<Run> =>
      (await ask({ method: 'POST', path: at('runs', id, '/cancel'), body, signal }, runSchema)).body,

    /** What runs settles, nothing new starts. Again on a paused run: nothing. @throws ApiError `run_not_active` */
    pauseRun: async (id: string, { signal }: Options = {}): Promise<Run> =>
      (await ask({ method: 'POST', path: at('runs', id, '/pause'), signal }, runSchema)).body,

    /** Grants each limit again, and resumes paused sub-agents too. @throws ApiError `run_not_paused`, `limit_reached_above`, `tools_changed` */
    resumeRun: async (id: string, body: ResumeRun = {}, { signal }: Options = {}): Promise<Run> =>
      (await ask({ method: 'POST', path: at('runs', id, '/resume'), body, signal }, runSchema)).body,

    /**
     * Retries a failed, canceled or paused run from one of its steps. `undone` and `restored` are those of `undoSteps`.
     * @throws ApiError `run_not_retryable`, `external_effects`, `tools_changed`, …
     */
    retryRun: async (id: string, body: RetryRun = {}, { signal }: Options = {}): Promise<Undone> =>
      (await ask({ method: 'POST', path: at('runs', id, '/retry'), body, signal }, undoneSchema)).body,

    /**
     * Sends an open run the calls of its next turn. `settled` of the answer says whether all of them are over.
     * @param options.waitS seconds to wait for that, 60 at most
     * @throws ApiError `run_not_open`, `run_not_active`, `too_many_calls`, `idempotency_key_reused`
     */
    async sendCalls(
      runId: string,
      body: SendCalls,
      {
        idempotencyKey,
        waitS,
        signal,
      }: Options & { idempotencyKey?: string | undefined; waitS?: number | undefined } = {},
    ): Promise<ReceivedCalls> {
      const headers = { 'idempotency-key': idempotencyKey };
      const path = at('runs', runId, '/calls');
      const request = { method: 'POST' as const, path, query: { wait_s: waitS }, body, headers, signal };
      return (await ask(request, receivedCallsSchema)).body;
    },

    /** Calls that an open run received, by their number. @throws ApiError `calls_not_found` */
    getCalls: async (
      runId: string,
      number: number,
      { waitS, signal }: Options & { waitS?: number | undefined } = {},
    ): Promise<ReceivedCalls> =>
      (
        await ask(
          { path: at('runs', runId, `/calls/${number}`), query: { wait_s: waitS }, signal },
          receivedCallsSchema,
        )
      ).body,

    /** Ends an open run: no more calls come. @throws ApiError `run_not_open`, `run_not_active`, `calls_pending` */
    finishRun: async (id: string, body: FinishRun = {}, { signal }: Options = {}): Promise<Run> =>
      (await ask({ method: 'POST', path: at('runs', id, '/finish'), body, signal }, runSchema)).body,

    /** Sends a message to a run: its model reads the message before its next turn. @throws ApiError `run_not_active` */
    async sendMessage(
      id: string,
      text: string,
      { idempotencyKey, signal }: Options & { idempotencyKey?: string | undefined } = {},
    ): Promise<SentMessage> {
      const headers = { 'idempotency-key': idempotencyKey };
      const path = at('runs', id, '/messages');
      return (await ask({ method: 'POST', path, body: { text }, headers, signal }, sentMessageSchema)).body;
    },

    /** Background commands and sub-agents, oldest first. */
    listTasks: async (runId: string, { signal }: Options = {}): Promise<Task[]> =>
      (await ask({ path: at('runs', runId, '/tasks'), signal }, taskListSchema)).body.data,

    getTask: async (id: string, { signal }: Options = {}): Promise<Task> =>
      (await ask({ path: at('tasks', id), signal }, taskSchema)).body,

    readTaskOutput: async (id: string, query: TaskOutputQuery = {}, { signal }: Options = {}): Promise<TaskOutput> =>
      (await ask({ path: at('tasks', id, '/output'), query: { ...query }, signal }, taskOutputSchema)).body,

    /** Kills the process tree of a background command, or cancels a sub-agent. A task that is over stays as it is. */
    killTask: async (id: string, { signal }: Options = {}): Promise<Task> =>
      (await ask({ method: 'POST', path: at('tasks', id, '/kill'), signal }, taskSchema)).body,

    stuck: async ({ signal }: Options = {}): Promise<Stuck> =>
      (await ask({ path: '/v1/stuck', signal }, stuckSchema)).body,

    /**
     * Starts a new run that continues after a step of this one. This run is unchanged. `created` is that of `createRun`.
     * @param body.from_step a step's id or `number`; 0: before the first
     * @throws ApiError `step_not_found`, `step_not_settled`, `workspace_discarded`, `invalid_fork`, …
     */
    async forkRun(
      id: string,
      body: ForkRun,
      { idempotencyKey, signal }: Options & { idempotencyKey?: string | undefined } = {},
    ): Promise<{ run: Run; created: boolean }> {
      const headers = { 'idempotency-key': idempotencyKey };
      const answer = await ask({ method: 'POST', path: at('runs', id, '/fork'), body, headers, signal }, runSchema);
      return { run: answer.body, created: answer.status === 201 };
    },

    /**
     * Undoes the steps of a paused run after `to_step`. Waits until the files are back, at most 30 s; then `restored` is false.
     * @throws ApiError `run_not_paused`, `run_not_idle`, `external_effects`, …
     */
    undoSteps: async (id: string, body: UndoRun, { signal }: Options = {}): Promise<Undone> =>
      (await ask({ method: 'POST', path: at('runs', id, '/undo'), body, signal }, undoneSchema)).body,

    /** In the order they were planned. */
    listSteps: async (runId: string, query: PageQuery = {}, { signal }: Options = {}): Promise<Page<Step>> =>
      (await ask({ path: at('runs', runId, '/steps'), query: { ...query }, signal }, stepPageSchema)).body,

    getStep: async (id: string, { signal }: Options = {}): Promise<StepDetail> =>
      (await ask({ path: at('steps', id), signal }, stepDetailSchema)).body,

    listAttempts: async (stepId: string, { signal }: Options = {}): Promise<Attempt[]> =>
      (await ask({ path: at('steps', stepId, '/attempts'), signal }, attemptListSchema)).body.data,

    listEvents: async (
      runId: string,
      query: { after?: number; limit?: number } = {},
      { signal }: Options = {},
    ): Promise<Page<RunEvent>> =>
      (await ask({ path: at('runs', runId, '/events'), query: { ...query }, signal }, eventPageSchema)).body,

    /** One page of the spans of a run. Pages are in order of the ends of their spans; those that have not ended are on the last one. */
    readTrace: async (
      runId: string,
      query: { after?: number; limit?: number } = {},
      { signal }: Options = {},
    ): Promise<Trace> =>
      (await ask({ path: at('runs', runId, '/trace'), query: { ...query }, signal }, traceSchema)).body,

    /**
     * A run's events from `after` on, each exactly once and in order, past lost connections. Ends when the run has ended and no
     * publication is under way.
     */
    events(runId: string, { after = 0, signal }: Options & { after?: number } = {}): AsyncGenerator<RunEvent> {
      return followRun(transport, { path: at('runs', runId, '/events'), after, signal });
    },

    /**
     * The same, with `{ type: 'live' }` between the events: pieces of what a model writes and a command prints at this time, from the
     * beginning that is kept. No log has them, so after a lost connection a text may continue after a gap (`offset`), and another `since` means
     * that it began again. The result of a step or a turn is in its event.
     */
    liveEvents(
      runId: string,
      { after = 0, signal }: Options & { after?: number } = {},
    ): AsyncGenerator<RunEvent | LiveText> {
      return followLive(transport, { path: at('runs', runId, '/events'), after, signal });
    },

    /** Each run as it is whenever one changes, from now on. Quick changes of one run may arrive as one. Never ends by itself. */
    async *changes({ signal }: Options = {}): AsyncGenerator<Run> {
      for await (const { event, data } of follow(transport, () => ({ path: '/v1/events' }), signal)) {
        if (event === runChanged) yield read(runSchema, data, 200);
      }
    },

    /**
     * Waits, on the run's events, until a condition holds.
     * @param options.until default: the run has ended
     * @returns the run as it is then. It has ended without the condition when `until` does not hold for it.
     */
    async waitForRun(
      runId: string,
      { until = hasEnded, signal }: Options & { until?: (run: Run) => boolean } = {},
    ): Promise<RunDetail> {
      let run = await getRun(runId, { signal });
      if (until(run)) return run;
      for await (const event of followRun(transport, { path: at('runs', runId, '/events'), after: run.seq, signal })) {
        if (event.seq <= run.seq) continue;
        run = await getRun(runId, { signal });
        if (until(run)) return run;
      }
      return run;
    },

    /** Newest first. Others than pending ones are listed per run. */
    async listApprovals(query: PageQuery & ApprovalQuery = {}, { signal }: Options = {}): Promise<Page<Approval>> {
      const { status, ...rest } = query;
      const request = { path: '/v1/approvals', query: { ...rest, status: status?.join(',') }, signal };
      return (await ask(request, approvalPageSchema)).body;
    },

    getApproval: async (id: string, { signal }: Options = {}): Promise<Approval> =>
      (await ask({ path: at('approvals', id), signal }, approvalSchema)).body,

    /** The first decision wins; the same again is answered as the first was. @throws ApiError `already_decided`, `action_changed`, … */
    decideApproval: async (id: string, body: Decide, { signal }: Options = {}): Promise<Approval> =>
      (await ask({ method: 'POST', path: at('approvals', id, '/decision'), body, signal }, approvalSchema)).body,

    /** The whole of an approval that is `cut`, and the digest to approve it with. */
    getApprovalContent: async (id: string, { signal }: Options = {}): Promise<ApprovalContent> =>
      (await ask({ path: at('approvals', id, '/content'), signal }, approvalContentSchema)).body,

    /** One result per approval; those that are refused do not hold up the others. */
    decideApprovals: async (body: DecideMany, { signal }: Options = {}): Promise<DecidedMany['data']> =>
      (await ask({ method: 'POST', path: '/v1/approvals/decisions', body, signal }, decidedManySchema)).body.data,

    /** Lets another caller decide on an approval. @throws ApiError `not_a_decider`, `invalid_delegation`, … */
    delegateApproval: async (id: string, body: Delegate, { signal }: Options = {}): Promise<Approval> =>
      (await ask({ method: 'POST', path: at('approvals', id, '/delegate'), body, signal }, approvalSchema)).body,

    /** The remembered rules in force, newest first. */
    async listRules(
      query: PageQuery & { run_id?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<Page<RememberedRule>> {
      return (await ask({ path: '/v1/rules', query: { ...query }, signal }, rememberedRulePageSchema)).body;
    },

    getRule: async (id: string, { signal }: Options = {}): Promise<RememberedRule> =>
      (await ask({ path: at('rules', id), signal }, rememberedRuleSchema)).body,

    /** No call is let through by it any more. Again: no-op. */
    revokeRule: async (id: string, { signal }: Options = {}): Promise<RememberedRule> =>
      (await ask({ method: 'DELETE', path: at('rules', id), signal }, rememberedRuleSchema)).body,

    diff: async (runId: string, query: Snapshots = {}, { signal }: Options = {}): Promise<Diff> =>
      (await ask({ path: at('runs', runId, '/diff'), query: { ...query }, signal }, diffSchema)).body,

    /** Text which `git apply` accepts. */
    patch: async (runId: string, query: Snapshots = {}, { signal }: Options = {}): Promise<string> =>
      transport.askText({ path: at('runs', runId, '/diff'), query: { ...query, format: 'patch' }, signal }),

    /** The states of the workspace, oldest first. */
    listSnapshots: async (runId: string, { signal }: Options = {}): Promise<Snapshot[]> =>
      (await ask({ path: at('runs', runId, '/snapshots'), signal }, snapshotListSchema)).body.data,

    /** The files of a snapshot, by default of the one that the run is at. `path`: only this file, or what lies in this folder. */
    listFiles: async (
      runId: string,
      query: { snapshot?: string | undefined; path?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<FileEntry[]> =>
      (await ask({ path: at('runs', runId, '/files'), query: { ...query }, signal }, fileListSchema)).body.data,

    /** Content of the workspace that no snapshot can hold. */
    async listUnknown(
      runId: string,
      query: { snapshot?: string | undefined; path?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<UnknownContent[]> {
      const path = at('runs', runId, '/files');
      return (await ask({ path, query: { ...query }, signal }, fileListSchema)).body.unknown;
    },

    /** The bytes of a file. Read them to their end, or end the loop: until then the connection is taken. */
    readFile: async (
      runId: string,
      query: { path: string; snapshot?: string | undefined },
      { signal }: Options = {},
    ): Promise<AsyncGenerator<Uint8Array>> =>
      transport.askBytes({ path: at('runs', runId, '/files/content'), query: { ...query }, signal }),

    /**
     * The bytes of an archive with the files of a snapshot. Read them to their end, or end the loop.
     * @param query.only `changed`: what the run added or changed. @default all
     * @param query.format @default tar.gz
     */
    downloadArchive: async (
      runId: string,
      query: { snapshot?: string | undefined; only?: 'all' | 'changed'; format?: 'tar.gz' | 'zip' } = {},
      { signal }: Options = {},
    ): Promise<AsyncGenerator<Uint8Array>> =>
      transport.askBytes({ path: at('runs', runId, '/archive'), query: { ...query }, signal }),

    /** What a publish would do now, with every conflict. Changes nothing. */
    async previewPublish(runId: string, body: DryRun = {}, { signal }: Options = {}): Promise<PublishPreview> {
      const request = { method: 'POST', path: at('runs', runId, '/publish/dry-run'), body, signal } as const;
      return (await ask(request, publishPreviewSchema)).body;
    },

    /** The validator results of the last publish. @throws ApiError `not_validated` */
    getValidation: async (runId: string, { signal }: Options = {}): Promise<Validation> =>
      (await ask({ path: at('runs', runId, '/validation'), signal }, validationSchema)).body,

    /**
     * Waits for the outcome, at most 30 s; after that the status is `requested`. `parked`: the publish waits for the decision on `approval_id`.
     * @throws ApiError `publish_conflict` with `conflicts` and, when a decision can settle them, `approvalId`; `validator_failed`,
     * `publish_rejected`, `publish_expired`, `publish_failed`
     */
    publish: async (runId: string, body: Publish = {}, { signal }: Options = {}): Promise<Publication> =>
      (await ask({ method: 'POST', path: at('runs', runId, '/publish'), body, signal }, publicationSchema)).body,

    /** Removes the workspace of a run that has ended. */
    discard: async (runId: string, { signal }: Options = {}): Promise<Publication> =>
      (await ask({ method: 'POST', path: at('runs', runId, '/discard'), signal }, publicationSchema)).body,

    listTools: async (query: { toolset?: string } = {}, { signal }: Options = {}): Promise<Tool[]> =>
      (await ask({ path: '/v1/tools', query: { ...query }, signal }, toolListSchema)).body.data,

    listToolsets: async ({ signal }: Options = {}): Promise<{ name: string; tools: number }[]> =>
      (await ask({ path: '/v1/toolsets', signal }, toolsetListSchema)).body.data,

    getToolset: async (name: string, query: { format?: string } = {}, { signal }: Options = {}): Promise<Toolset> =>
      (await ask({ path: at('toolsets', name), query: { ...query }, signal }, toolsetSchema)).body,

    /** Who the key says that the caller is, and what it allows. */
    async getMe({ signal }: Options = {}): Promise<Me> {
      return (await ask({ path: '/v1/me', signal }, meSchema)).body;
    },

    /** Newest first, revoked and expired ones too. */
    async listKeys(
      query: PageQuery & { tenant?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<Page<Key>> {
      return (await ask({ path: '/v1/keys', query: { ...query }, signal }, keyPageSchema)).body;
    },

    async getKey(id: string, { signal }: Options = {}): Promise<Key> {
      return (await ask({ path: at('keys', id), signal }, keySchema)).body;
    },

    /** The answer has the text of the key, which cannot be read again. */
    async createKey(body: CreateKey, { signal }: Options = {}): Promise<IssuedKey> {
      return (await ask({ method: 'POST', path: '/v1/keys', body, signal }, issuedKeySchema)).body;
    },

    /** Names of the secrets that runs may use. No call returns a value. */
    async listSecrets({ signal }: Options = {}): Promise<Secret[]> {
      return (await ask({ path: '/v1/secrets', signal }, secretListSchema)).body.data;
    },

    /** @throws ApiError `secret_store_off`, `secret_taken` */
    async setSecret(name: string, body: SetSecret, { signal }: Options = {}): Promise<Secret> {
      return (await ask({ method: 'PUT', path: at('secrets', name), body, signal }, secretSchema)).body;
    },

    /** @throws ApiError `secret_not_found`, `secret_taken` */
    async removeSecret(name: string, { signal }: Options = {}): Promise<Secret> {
      return (await ask({ method: 'DELETE', path: at('secrets', name), signal }, secretSchema)).body;
    },

    /** Gives the key another text; the one before stays valid for `grace_s` seconds. */
    async rotateKey(id: string, body: RotateKey = {}, { signal }: Options = {}): Promise<IssuedKey> {
      return (await ask({ method: 'POST', path: at('keys', id, '/rotate'), body, signal }, issuedKeySchema)).body;
    },

    async revokeKey(id: string, { signal }: Options = {}): Promise<Key> {
      return (await ask({ method: 'DELETE', path: at('keys', id), signal }, keySchema)).body;
    },

    /** The newest version of each. */
    listPolicies: async ({ signal }: Options = {}): Promise<PolicySummary[]> =>
      (await ask({ path: '/v1/policies', signal }, policyListSchema)).body.data,

    /** @param version the newest when absent */
    async getPolicy(
      name: string,
      { version, signal }: Options & { version?: number | undefined } = {},
    ): Promise<PolicyVersion> {
      const path = at('policies', name, version === undefined ? '' : `/versions/${version}`);
      return (await ask({ path, signal }, storedVersionSchema)).body;
    },

    async listPolicyVersions(
      name: string,
      query: PageQuery = {},
      { signal }: Options = {},
    ): Promise<Page<PolicySummary>> {
      return (
        await ask({ path: at('policies', name, '/versions'), query: { ...query }, signal }, policyVersionPageSchema)
      ).body;
    },

    /** `created` is false when the newest version has the same content. @param ifVersion the version that it replaces; 0: none */
    async putPolicy(
      name: string,
      document: PutPolicy,
      { ifVersion, signal }: Options & { ifVersion?: number | undefined } = {},
    ): Promise<{ policy: PolicyVersion; created: boolean }> {
      const query = { if_version: ifVersion };
      const request = { method: 'PUT' as const, path: at('policies', name), query, body: document, signal };
      const answer = await ask(request, storedVersionSchema);
      return { policy: answer.body, created: answer.status === 201 };
    },

    /** Its versions stay readable. */
    async deletePolicy(
      name: string,
      { ifVersion, signal }: Options & { ifVersion?: number | undefined } = {},
    ): Promise<PolicySummary> {
      const query = { if_version: ifVersion };
      return (await ask({ method: 'DELETE', path: at('policies', name), query, signal }, policySummarySchema)).body;
    },

    /** Which rule of a document decides a call, and why the others do not. */
    async testPolicy(body: TestPolicy, { signal }: Options = {}): Promise<PolicyExplanation> {
      return (await ask({ method: 'POST', path: '/v1/policies/test', body, signal }, explanationSchema)).body;
    },

    /** The same for a stored policy. */
    async testNamedPolicy(name: string, body: TestNamedPolicy, { signal }: Options = {}): Promise<PolicyExplanation> {
      return (await ask({ method: 'POST', path: at('policies', name, '/test'), body, signal }, explanationSchema)).body;
    },

    /** A page of what recorded calls would have been with another policy; the next page by its `next_cursor`. */
    async replayPolicy(body: ReplayPolicy, { signal }: Options = {}): Promise<PolicyReplay> {
      return (await ask({ method: 'POST', path: '/v1/policies/replay', body, signal }, replayPageSchema)).body;
    },

    /** Rules that would have let through what people always approved. */
    async proposeRules(body: ProposeRules, { signal }: Options = {}): Promise<RuleProposals> {
      return (await ask({ method: 'POST', path: '/v1/policies/propose', body, signal }, ruleProposalsSchema)).body;
    },

    /** Calls, decisions and changes as they were sealed, oldest first. */
    async listAudit(query: PageQuery & AuditQuery = {}, { signal }: Options = {}): Promise<Page<AuditRecord>> {
      return (await ask({ path: '/v1/audit', query: { ...query }, signal }, auditPageSchema)).body;
    },

    /** The same records as lines of JSON, as the files have them. Read them to their end, or end the loop. */
    async exportAudit(
      query: AuditQuery & { cursor?: string | undefined } = {},
      { signal }: Options = {},
    ): Promise<AsyncGenerator<Uint8Array>> {
      return transport.askBytes({ path: '/v1/audit', query: { ...query }, headers: { accept: jsonLines }, signal });
    },

    /** The last sealed record: keep it elsewhere for `verifyAudit`. */
    async auditHead({ signal }: Options = {}): Promise<AuditHead> {
      return (await ask({ path: '/v1/audit/head', signal }, auditHeadSchema)).body;
    },

    /** @param query.head `SEQ:HASH` that was kept elsewhere. @returns findings: what is not as it was sealed */
    async verifyAudit(query: { head?: string | undefined } = {}, { signal }: Options = {}): Promise<AuditReport> {
      return (await ask({ path: '/v1/audit/verify', query: { ...query }, signal }, auditReportSchema)).body;
    },

    listWorkers: async ({ signal }: Options = {}): Promise<Worker[]> =>
      (await ask({ path: '/v1/workers', signal }, workerListSchema)).body.data,

    /** The operator's settings that bind every run, from the API process. */
    getBounds: async ({ signal }: Options = {}): Promise<ApiBounds> =>
      (await ask({ path: '/v1/bounds', signal }, apiBoundsSchema)).body,

    /** Changes what processes log, until they end. */
    setLogLevel: async (body: LogLevelChange, { signal }: Options = {}): Promise<LogLevelReached> =>
      (await ask({ method: 'PUT', path: '/v1/log-level', body, signal }, logLevelReachedSchema)).body,

    listQueues: async ({ signal }: Options = {}): Promise<Queue[]> =>
      (await ask({ path: '/v1/queues', signal }, queueListSchema)).body.data,

    /** The process is up. */
    async health({ signal }: Options = {}): Promise<void> {
      await ask({ path: '/healthz', signal }, healthSchema);
    },

    /** Redis answers. @throws ApiError `unavailable` when it does not */
    ready: async ({ signal }: Options = {}): Promise<Readiness> =>
      (await ask({ path: '/readyz', signal }, readinessSchema)).body,

    /** Waits for what is under way and closes the connections. Idle ones keep no process alive. */
    close: (): Promise<void> => transport.close(),
  };
}

const hasEnded = (run: Run): boolean => isTerminal(run.status);
