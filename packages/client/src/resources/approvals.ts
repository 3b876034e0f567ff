import {
  type Approval,
  type ApprovalContent,
  approvalContentSchema,
  approvalPageSchema,
  approvalSchema,
  type ConflictView,
  conflictViewSchema,
  type Decide,
  type DecidedMany,
  type DecideMany,
  type Delegate,
  decidedManySchema,
  type Page,
} from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

interface ApprovalQuery {
  status?: readonly Approval['status'][] | undefined;
  run_id?: string | undefined;
  tool?: string | undefined;
  /** Name of the rule behind the hold. */
  rule?: string | undefined;
  /** `name=value` of a label of the run. */
  label?: string | undefined;
  older_than_s?: number | undefined;
}

export const approvalRequests = ({ ask }: Transport) => ({
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

  /** The whole of an approval marked `cut`, and the digest with which to approve. */
  getApprovalContent: async (id: string, { signal }: Options = {}): Promise<ApprovalContent> =>
    (await ask({ path: at('approvals', id, '/content'), signal }, approvalContentSchema)).body,

  /** A file in conflict by lines: a page of its hunks. @throws ApiError `conflict_gone` */
  getConflict: async (
    id: string,
    { path, ...page }: { path: string; from?: number; limit?: number },
    { signal }: Options = {},
  ): Promise<ConflictView> =>
    (await ask({ path: at('approvals', id, '/conflict'), query: { path, ...page }, signal }, conflictViewSchema)).body,

  /** A result per approval; a refusal does not hold up the others. */
  decideApprovals: async (body: DecideMany, { signal }: Options = {}): Promise<DecidedMany['data']> =>
    (await ask({ method: 'POST', path: '/v1/approvals/decisions', body, signal }, decidedManySchema)).body.data,

  /** Lets another caller decide on an approval. @throws ApiError `not_a_decider`, `invalid_delegation`, … */
  delegateApproval: async (id: string, body: Delegate, { signal }: Options = {}): Promise<Approval> =>
    (await ask({ method: 'POST', path: at('approvals', id, '/delegate'), body, signal }, approvalSchema)).body,
});
