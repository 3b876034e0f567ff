import type * as wire from '@holdpoint/contract/wire';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';

/** The newest version of a policy, or one of its versions, with its document. */
export interface StoredPolicy extends Omit<wire.PolicySummary, 'rules'> {
  document: wire.PutPolicy;
}

const at = (name: string, rest = ''): string => `/v1/policies/${encodeURIComponent(name)}${rest}`;

export const usePolicyList = () =>
  useQuery({
    queryKey: ['policies', 'list'],
    queryFn: ({ signal }) =>
      ask<Pick<wire.Page<wire.PolicySummary>, 'data' | 'damaged'>>({ path: '/v1/policies', signal }),
    staleTime: 0,
  });

export const usePolicy = (name: string, version: string | undefined) =>
  useQuery({
    queryKey: ['policies', 'one', name, version],
    queryFn: ({ signal }) =>
      ask<StoredPolicy>({ path: at(name, version === undefined ? '' : `/versions/${version}`), signal }),
    staleTime: 0,
  });

export const useVersions = (name: string) =>
  useInfiniteQuery({
    queryKey: ['policies', 'versions', name],
    queryFn: ({ pageParam, signal }) =>
      ask<wire.Page<wire.PolicySummary>>({
        path: at(name, '/versions'),
        query: { limit: 200, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: 0,
  });

export const useRules = () =>
  useInfiniteQuery({
    queryKey: ['rules'],
    queryFn: ({ pageParam, signal }) =>
      ask<wire.Page<wire.RememberedRule>>({ path: '/v1/rules', query: { limit: 200, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: 0,
  });

export const checkText = (body: wire.CheckPolicy): Promise<wire.CheckedPolicy> =>
  ask({ method: 'POST', path: '/v1/policies/check', body });

/** @param ifVersion the version that was read; 0: there is none. Another person's change is a refusal, never lost */
export const putPolicy = (name: string, body: wire.PutPolicy, ifVersion: number): Promise<StoredPolicy> =>
  ask({ method: 'PUT', path: at(name), query: { if_version: ifVersion }, body });

export const deletePolicy = (name: string, ifVersion: number): Promise<wire.PolicySummary> =>
  ask({ method: 'DELETE', path: at(name), query: { if_version: ifVersion } });
