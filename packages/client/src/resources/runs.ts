import type { TraceContext } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

interface RunQuery {
  status?: readonly wire.Run['status'][] | undefined;
  /** `name:value` of a label. */
  label?: string | undefined;
  /** Part of the title, in upper or lower case. */
  title?: string | undefined;
  /** RFC 3339. */
  created_after?: string | undefined;
  /** RFC 3339. */
  created_before?: string | undefined;
}

export const runRequests = ({ ask }: Transport) => ({
  /**
   * `created` is false when the idempotency key met the run of an earlier request. `traceparent`: the caller's span, by W3C Trace Context;
   * the trace of the run continues this span.
   */
  async createRun(
    body: wire.CreateRun,
    {
      idempotencyKey,
      traceparent,
      tracestate,
      signal,
    }: Options & { idempotencyKey?: string | undefined } & Partial<TraceContext> = {},
  ): Promise<{ run: wire.Run; created: boolean }> {
    const headers = { 'idempotency-key': idempotencyKey, traceparent, tracestate };
    const answer = await ask({ method: 'POST', path: '/v1/runs', body, headers, signal }, wire.runSchema);
    return { run: answer.body, created: answer.status === 201 };
  },

  /** Newest first. With `title` a page may be short, or empty, and still have a `next_cursor`. */
  async listRuns(query: PageQuery & RunQuery = {}, { signal }: Options = {}): Promise<wire.Page<wire.Run>> {
    const { status, ...rest } = query;
    return (await ask({ path: '/v1/runs', query: { ...rest, status: status?.join(',') }, signal }, wire.runPageSchema))
      .body;
  },

  /** @param query.label `name:value`: only runs with this label */
  countRuns: async (query: Pick<RunQuery, 'label'> = {}, { signal }: Options = {}): Promise<wire.RunCounts> =>
    (await ask({ path: '/v1/runs/counts', query: { ...query }, signal }, wire.runCountsSchema)).body,

  getRun: async (id: string, { signal }: Options = {}): Promise<wire.RunDetail> =>
    (await ask({ path: at('runs', id), signal }, wire.runDetailSchema)).body,

  cancelRun: async (id: string, body: { message?: string } = {}, { signal }: Options = {}): Promise<wire.Run> =>
    (await ask({ method: 'POST', path: at('runs', id, '/cancel'), body, signal }, wire.runSchema)).body,

  /** Running steps settle, nothing new starts. Again on a paused run: nothing. @throws ApiError `run_not_active` */
  pauseRun: async (id: string, { signal }: Options = {}): Promise<wire.Run> =>
    (await ask({ method: 'POST', path: at('runs', id, '/pause'), signal }, wire.runSchema)).body,

  /** Grants each limit again, and resumes paused sub-agents too. @throws ApiError `run_not_paused`, `limit_reached_above`, `tools_changed` */
  resumeRun: async (id: string, body: wire.ResumeRun = {}, { signal }: Options = {}): Promise<wire.Run> =>
    (await ask({ method: 'POST', path: at('runs', id, '/resume'), body, signal }, wire.runSchema)).body,

  /**
   * Retries a failed, canceled or paused run from a chosen step. `undone` and `restored` mean the same as in `undoSteps`.
   * @throws ApiError `run_not_retryable`, `external_effects`, `tools_changed`, …
   */
  retryRun: async (id: string, body: wire.RetryRun = {}, { signal }: Options = {}): Promise<wire.Undone> =>
    (await ask({ method: 'POST', path: at('runs', id, '/retry'), body, signal }, wire.undoneSchema)).body,

  /**
   * Starts a new run as the continuation of this run after a step. This run is unchanged. `created` means the same as in `createRun`.
   * @param body.from_step a step's id or `number`; 0: before the first
   * @throws ApiError `step_not_found`, `step_not_settled`, `workspace_discarded`, `invalid_fork`, …
   */
  async forkRun(
    id: string,
    body: wire.ForkRun,
    { idempotencyKey, signal }: Options & { idempotencyKey?: string | undefined } = {},
  ): Promise<{ run: wire.Run; created: boolean }> {
    const headers = { 'idempotency-key': idempotencyKey };
    const answer = await ask({ method: 'POST', path: at('runs', id, '/fork'), body, headers, signal }, wire.runSchema);
    return { run: answer.body, created: answer.status === 201 };
  },

  /**
   * Undoes the steps of a paused run after `to_step`. Waits until the files are back, at most 30 s; then `restored` is false.
   * @throws ApiError `run_not_paused`, `run_not_idle`, `external_effects`, …
   */
  undoSteps: async (id: string, body: wire.UndoRun, { signal }: Options = {}): Promise<wire.Undone> =>
    (await ask({ method: 'POST', path: at('runs', id, '/undo'), body, signal }, wire.undoneSchema)).body,

  /**
   * Sends a message to a run: its model reads the message before its next turn.
   * @param options.wake continue a run that has succeeded
   * @throws ApiError `run_not_active`, `run_not_wakeable`
   */
  async sendMessage(
    id: string,
    text: string,
    {
      idempotencyKey,
      comments,
      wake,
      signal,
    }: Options & {
      idempotencyKey?: string | undefined;
      comments?: wire.LineComment[] | undefined;
      wake?: boolean | undefined;
    } = {},
  ): Promise<wire.SentMessage> {
    const headers = { 'idempotency-key': idempotencyKey };
    const path = at('runs', id, '/messages');
    return (
      await ask({ method: 'POST', path, body: { text, comments, wake }, headers, signal }, wire.sentMessageSchema)
    ).body;
  },
});
