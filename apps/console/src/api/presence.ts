import type { Presence } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ask } from './request.ts';

/** Well within the 30 seconds after which a page without a sign has left. */
const signEveryMs = 10_000;

export const presenceKey = ['presence'] as const;

/** Who is looking at each approval now. The stream says when to read it again. */
export const usePresence = () =>
  useQuery({
    queryKey: presenceKey,
    queryFn: ({ signal }) => ask<{ data: Presence[] }>({ path: '/v1/presence', signal }),
    staleTime: 0,
    retry: false,
  });

/** Others see that this page shows the approval, as long as it is in sight. */
export function useBeingHere(approvalId: string, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const page = crypto.randomUUID();
    const path = `/v1/approvals/${encodeURIComponent(approvalId)}/presence`;
    const look = () => void ask({ method: 'PUT', path, body: { page } }).catch(notMissed);
    const leave = () => void ask({ method: 'DELETE', path, query: { page }, keepalive: true }).catch(notMissed);
    const inSight = () => (document.hidden ? leave() : look());
    inSight();
    const timer = setInterval(() => {
      if (!document.hidden) look();
    }, signEveryMs);
    document.addEventListener('visibilitychange', inSight);
    window.addEventListener('pagehide', leave);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', inSight);
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, [approvalId, isOn]);
}

// Nothing depends on a sign: the next comes soon, and without one the page counts as left.
const notMissed = (): void => {};
