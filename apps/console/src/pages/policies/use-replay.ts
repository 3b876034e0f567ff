import type { PolicyReplay, ReplayPolicy } from '@holdpoint/contract/wire';
import { useEffect, useRef, useState } from 'react';
import { ask } from '../../api/request.ts';

/** The sum of the pages so far. */
export type Found = Pick<
  PolicyReplay,
  'runs' | 'calls' | 'unchanged' | 'counts' | 'changed' | 'not_judged' | 'left_out'
> & { damaged: number };

/** Calls kept for the list; further ones are counted as left out. */
const mostListed = 1000;

/** Reads a replay page by page, and stops when asked or when the page is left. */
export function useReplay() {
  const [found, setFound] = useState<Found>();
  const [error, setError] = useState<unknown>();
  const [isReading, setReading] = useState(false);
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);
  return { found, error, isReading, start, stop: () => stopping.current?.abort() };

  async function start(prepare: () => Promise<ReplayPolicy | undefined>): Promise<void> {
    if (isReading) return;
    const stop = new AbortController();
    stopping.current = stop;
    setReading(true);
    setError(undefined);
    setFound(undefined);
    try {
      const body = await prepare();
      if (body !== undefined) await readAll(body, stop.signal);
    } catch (failed) {
      if (!stop.signal.aborted) setError(failed);
    }
    setReading(false);
  }

  async function readAll(body: ReplayPolicy, signal: AbortSignal): Promise<void> {
    let sum = nothing;
    let cursor: string | undefined;
    do {
      const page: PolicyReplay = await ask({
        ...{ method: 'POST', path: '/v1/policies/replay', body: { ...body, cursor }, signal },
      });
      sum = added(sum, page);
      setFound(sum);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }
}

const nothing: Found = {
  ...{ runs: 0, calls: 0, unchanged: 0, counts: { allow: 0, hold: 0, deny: 0 } },
  ...{ changed: [], not_judged: [], left_out: 0, damaged: 0 },
};

function added(sum: Found, page: PolicyReplay): Found {
  const changed = [...sum.changed, ...page.changed];
  const notJudged = [...sum.not_judged, ...page.not_judged];
  const more = Math.max(0, changed.length - mostListed) + Math.max(0, notJudged.length - mostListed);
  const { allow, hold, deny } = page.counts;
  return {
    runs: sum.runs + page.runs,
    calls: sum.calls + page.calls,
    unchanged: sum.unchanged + page.unchanged,
    counts: { allow: sum.counts.allow + allow, hold: sum.counts.hold + hold, deny: sum.counts.deny + deny },
    changed: changed.slice(0, mostListed),
    not_judged: notJudged.slice(0, mostListed),
    left_out: sum.left_out + page.left_out + more,
    damaged: sum.damaged + (page.damaged?.length ?? 0),
  };
}
