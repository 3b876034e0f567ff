import type { Page } from '@holdpoint/contract/wire';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Entities } from './entities.ts';
import { ask } from './request.ts';

interface List<Item extends { id: string }> {
  entities: Entities<Item>;
  path: string;
  query: Record<string, string | readonly string[] | undefined>;
}

/** Ids of runs or approvals in pages; their states are in the cache of entities. */
export const useEntityPages = <Item extends { id: string }>(
  queryKey: readonly unknown[],
  { entities, path, query }: List<Item>,
) =>
  useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const page = await ask<Page<Item>>({ path, query: { ...query, limit: 100, cursor: pageParam }, signal });
      entities.put(page.data);
      return { ids: page.data.map(({ id }) => id), next: page.next_cursor ?? undefined, damaged: page.damaged ?? [] };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
  });
export type EntityPages = ReturnType<typeof useEntityPages>;

/** An entity may move to another page between two readings: each id counts once. */
export const idsOf = ({ data }: EntityPages): string[] => [...new Set(data?.pages.flatMap(({ ids }) => ids))];
