import type { Approval, Page, Run } from '@holdpoint/contract/wire';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { ask } from './request.ts';

/** The newest known state of each run or approval: lists and details read it from here, so they never disagree. */
export interface Entities<Item extends { id: string }> {
  put(items: readonly Item[]): void;
  get(id: string): Item | undefined;
  /** The known ones of these ids. */
  some(ids: Iterable<string>): Item[];
  listen(id: string, listener: () => void): () => void;
}

function createEntities<Item extends { id: string }>(
  isOlder: (item: Item, than: Item) => boolean,
  complete: (item: Item, known: Item) => Item = (item) => item,
): Entities<Item> {
  const items = new Map<string, Item>();
  const listeners = new Map<string, Set<() => void>>();
  return {
    put(some) {
      for (const item of some) {
        const known = items.get(item.id);
        if (known !== undefined && isOlder(item, known)) continue;
        items.set(item.id, known === undefined ? item : complete(item, known));
        for (const listener of listeners.get(item.id) ?? []) listener();
      }
    },
    get: (id) => items.get(id),
    some: (ids) => [...ids].flatMap((id) => items.get(id) ?? []),
    listen(id, listener) {
      const some = listeners.get(id) ?? new Set();
      listeners.set(id, some.add(listener));
      return () => {
        some.delete(listener);
        if (some.size === 0) listeners.delete(id);
      };
    },
  };
}

/** The sequence number of its log orders the states of a run. */
export const runs = createEntities<Run>((item, than) => item.seq < than.seq);

/** A decision is final: a late answer that still says `pending` is older. A list looks up no remembered rules: those of the page stay. */
export const approvals = createEntities<Approval>(
  (item, than) => item.status === 'pending' && than.status !== 'pending',
  (item, known) => ({ ...item, remembered: item.remembered ?? known.remembered }),
);

function useEntity<Item extends { id: string }>(entities: Entities<Item>, id: string): Item | undefined {
  const listen = useCallback((listener: () => void) => entities.listen(id, listener), [entities, id]);
  return useSyncExternalStore(listen, () => entities.get(id));
}

export const useRun = (id: string): Run | undefined => useEntity(runs, id);
export const useApproval = (id: string): Approval | undefined => useEntity(approvals, id);

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
