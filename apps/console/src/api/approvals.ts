import type { PolicyVersion } from '@holdpoint/contract';
import type * as wire from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { approvals, useApproval, useEntityPages } from './entities.ts';
import { ask } from './request.ts';

/** Filters of a list of approvals, as in the address of the page. */
export interface ApprovalFilter {
  status?: readonly wire.Approval['status'][] | undefined;
  tool?: string | undefined;
  run_id?: string | undefined;
  label?: string | undefined;
  by?: string | undefined;
}

const at = (id: string, rest = ''): string => `/v1/approvals/${encodeURIComponent(id)}${rest}`;

export const useApprovalList = (filter: ApprovalFilter, order: 'expires_first' | 'newest') =>
  useEntityPages(['approvals', 'list', filter, order], {
    entities: approvals,
    path: '/v1/approvals',
    query: { ...filter, order },
  });

/** Number of approvals by status. */
export const useApprovalCounts = () =>
  useQuery({
    queryKey: ['approvals', 'counts'],
    queryFn: ({ signal }) => ask<Counts>({ path: '/v1/approvals/counts', signal }),
  });
interface Counts {
  total: number;
  by_status: Record<wire.Approval['status'], number>;
}

export function useApprovalDetail(id: string) {
  const query = useQuery({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => readApproval(id, signal),
  });
  const newest = useApproval(id);
  return { ...query, data: query.data && (newest ?? query.data) };
}

/** The past of a held call: words of the model, files and hosts read, earlier decisions on such calls. */
export const useApprovalContext = (id: string) =>
  useQuery({
    // Not beneath the key of the approvals: each change of one would read the log again.
    queryKey: ['context', id],
    queryFn: ({ signal }) => ask<wire.ApprovalContext>({ path: at(id, '/context'), signal }),
    staleTime: 60_000,
  });

export async function readApproval(id: string, signal?: AbortSignal): Promise<wire.Approval> {
  const approval = await ask<wire.Approval>({ path: at(id), signal });
  approvals.put([approval]);
  return approval;
}

export const readContent = (id: string): Promise<wire.ApprovalContent> => ask({ path: at(id, '/content') });

/** The API answers the same decision again as it answered the first: sent twice, a decision counts once. */
export async function decide(id: string, body: wire.Decide): Promise<wire.Approval> {
  const approval = await ask<wire.Approval>({ method: 'POST', path: at(id, '/decision'), body });
  approvals.put([approval]);
  return approval;
}

/** Answers with the approval that carries the result, or with the same one where no result came in time. */
export async function previewApproval(id: string): Promise<wire.Approval> {
  const approval = await ask<wire.Approval>({ method: 'POST', path: at(id, '/preview') });
  approvals.put([approval]);
  return approval;
}

/** Lets another caller decide on an approval, too. */
export async function delegateApproval(id: string, to: string): Promise<wire.Approval> {
  const approval = await ask<wire.Approval>({ method: 'POST', path: at(id, '/delegate'), body: { to } });
  approvals.put([approval]);
  return approval;
}

export const readPattern = (id: string): Promise<wire.ApprovalPattern> => ask({ path: at(id, '/pattern') });

export const confirmPattern = (id: string, body: wire.ConfirmPattern): Promise<PolicyVersion> =>
  ask({ method: 'POST', path: at(id, '/pattern'), body });

export const decideMany = async (body: wire.DecideMany): Promise<wire.DecidedMany['data']> =>
  (await ask<wire.DecidedMany>({ method: 'POST', path: '/v1/approvals/decisions', body })).data;

/** The description of a call's tool; undefined before the answer, for a removed tool, and for a caller who may not read it. */
export function useTool(
  { toolset, tool }: Pick<wire.Approval['action'], 'toolset' | 'tool'>,
  mayRead: boolean,
): wire.Tool | undefined {
  const { data } = useQuery({
    queryKey: ['tools', toolset],
    queryFn: ({ signal }) => ask<{ data: wire.Tool[] }>({ path: '/v1/tools', query: { toolset }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    enabled: mayRead,
  });
  return data?.data.find(({ name }) => name === tool);
}
