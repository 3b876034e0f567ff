import type { Approval, Page } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { ask } from './request.ts';

/** Number of pending approvals for the badge: `50+` where the first page is full. */
export function usePendingCount(): string | undefined {
  const { data } = useQuery({
    queryKey: ['approvals', 'pending-count'],
    queryFn: ({ signal }) => ask<Page<Approval>>({ path: '/v1/approvals', query: { limit: 50 }, signal }),
    select: (page) => `${page.data.length}${page.has_more ? '+' : ''}`,
  });
  return data;
}
