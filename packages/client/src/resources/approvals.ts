import type { PolicyVersion } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

interface ApprovalFilter {
  /** This run, and the sub-agents beneath it. */
  run_id?: string | undefined;
  tool?: string | undefined;
  /** Name of the rule behind the hold. */
  rule?: string | undefined;
  /** `name=value` of a label of the run. */
  label?: string | undefined;
  /** Name of a caller who decided, or approved where several had to. */
  by?: string | undefined;
}

interface ApprovalQuery extends ApprovalFilter {
  /** @default pending; with `by` or `decided_…` every other status */
  status?: readonly wire.Approval['status'][] | undefined;
  older_than_s?: number | undefined;
  /** RFC 3339, as the other times. */
  requested_after?: string | undefined;
  requested_before?: string | undefined;
  decided_after?: string | undefined;
  decided_before?: string | undefined;
  /** @default newest. expires_first: of pending approvals, what expires first, then the higher risk, then the older */
  order?: 'newest' | 'oldest' | 'expires_first' | undefined;
}

export const approvalRequests = ({ ask, send }: Transport) => ({
  /** Approvals of all runs. A page may be short, or empty, and still have a `next_cursor`. */
  async listApprovals(
    query: PageQuery & ApprovalQuery = {},
    { signal }: Options = {},
  ): Promise<wire.Page<wire.Approval>> {
    const { status, ...rest } = query;
    const request = { path: '/v1/approvals', query: { ...rest, status: status?.join(',') }, signal };
    return (await ask(request, wire.approvalPageSchema)).body;
  },

  /** The number of approvals by status. */
  countApprovals: async (query: ApprovalFilter = {}, { signal }: Options = {}): Promise<wire.ApprovalCounts> =>
    (await ask({ path: '/v1/approvals/counts', query: { ...query }, signal }, wire.approvalCountsSchema)).body,

  getApproval: async (id: string, { signal }: Options = {}): Promise<wire.Approval> =>
    (await ask({ path: at('approvals', id), signal }, wire.approvalSchema)).body,

  /** The first decision wins; the same again is answered as the first was. @throws ApiError `already_decided`, `action_changed`, … */
  decideApproval: async (id: string, body: wire.Decide, { signal }: Options = {}): Promise<wire.Approval> =>
    (await ask({ method: 'POST', path: at('approvals', id, '/decision'), body, signal }, wire.approvalSchema)).body,

  /**
   * Runs a held call on a throw-away fork. The answer is the approval that carries the result; while `preview_request` is `running`, repeat
   * the request. @throws ApiError `no_preview`, `already_decided`, `not_a_decider`, …
   */
  previewApproval: async (id: string, { signal }: Options = {}): Promise<wire.Approval> =>
    (await ask({ method: 'POST', path: at('approvals', id, '/preview'), signal }, wire.approvalSchema)).body,

  /** The whole of an approval marked `cut`, and the digest with which to approve. */
  getApprovalContent: async (id: string, { signal }: Options = {}): Promise<wire.ApprovalContent> =>
    (await ask({ path: at('approvals', id, '/content'), signal }, wire.approvalContentSchema)).body,

  /** What led to the question: the model's words, what was read since the last decision, and how such calls were decided. */
  getApprovalContext: async (id: string, { signal }: Options = {}): Promise<wire.ApprovalContext> =>
    (await ask({ path: at('approvals', id, '/context'), signal }, wire.approvalContextSchema)).body,

  /** Rules for calls like the one of an approval, with a replay on past calls. Changes nothing. @throws ApiError `no_pattern` */
  getApprovalPattern: async (
    id: string,
    query: { since?: string | undefined; least?: number | undefined } = {},
    { signal }: Options = {},
  ): Promise<wire.ApprovalPattern> =>
    (await ask({ path: at('approvals', id, '/pattern'), query: { ...query }, signal }, wire.patternSchema)).body,

  /** Puts exactly the shown rules into the policy of the run. @throws ApiError `pattern_changed`, `policy_changed`, `invalid_policy` */
  confirmApprovalPattern: async (
    id: string,
    body: wire.ConfirmPattern,
    { signal }: Options = {},
  ): Promise<PolicyVersion> =>
    (await ask({ method: 'POST', path: at('approvals', id, '/pattern'), body, signal }, wire.storedVersionSchema)).body,

  /** A file in conflict by lines: a page of its hunks. @throws ApiError `conflict_gone` */
  getConflict: async (
    id: string,
    { path, ...page }: { path: string; from?: number; limit?: number },
    { signal }: Options = {},
  ): Promise<wire.ConflictView> =>
    (await ask({ path: at('approvals', id, '/conflict'), query: { path, ...page }, signal }, wire.conflictViewSchema))
      .body,

  /** A result per approval; a refusal does not hold up the others. */
  decideApprovals: async (body: wire.DecideMany, { signal }: Options = {}): Promise<wire.DecidedMany['data']> =>
    (await ask({ method: 'POST', path: '/v1/approvals/decisions', body, signal }, wire.decidedManySchema)).body.data,

  /** Lets another caller decide on an approval. @throws ApiError `not_a_decider`, `invalid_delegation`, … */
  delegateApproval: async (id: string, body: wire.Delegate, { signal }: Options = {}): Promise<wire.Approval> =>
    (await ask({ method: 'POST', path: at('approvals', id, '/delegate'), body, signal }, wire.approvalSchema)).body,

  /** Who is looking at which approval now. Nothing of it is stored. */
  listPresence: async ({ signal }: Options = {}): Promise<wire.Presence[]> =>
    (await ask({ path: '/v1/presence', signal }, wire.presenceListSchema)).body.data,

  /** Others see that you look at the approval, for 30 seconds. @param page a UUID of what shows it */
  async lookAtApproval(id: string, page: string, { signal }: Options = {}): Promise<void> {
    await (await send({ method: 'PUT', path: at('approvals', id, '/presence'), body: { page }, signal })).text();
  },

  async leaveApproval(id: string, page: string, { signal }: Options = {}): Promise<void> {
    await (await send({ method: 'DELETE', path: at('approvals', id, '/presence'), query: { page }, signal })).text();
  },
});
