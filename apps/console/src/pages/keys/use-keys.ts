import type { Key, Page } from '@holdpoint/contract/wire';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';

const queryKey = ['keys'];

/** The keys of the caller's tenant, the newest first. */
export const useKeyList = () =>
  useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      ask<Page<Key>>({ path: '/v1/keys', query: { limit: 200, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

/** The list is read again after a request, whatever its answer: a request without an answer may have made a key. */
export function useRereadKeys(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey });
}
