import type { Page, StepSummary } from '@holdpoint/contract/wire';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ask, isProblem, NoAnswer } from '../../../api/request.ts';
import { useNews } from '../../../live/live.ts';
import { runPath, useFollowedRun } from '../shown-run.ts';

interface Steps {
  steps: readonly StepSummary[];
  /** Every step is read. */
  isWhole: boolean;
  error: unknown;
}

const open = new Set<StepSummary['status']>(['pending', 'parked', 'queued', 'running', 'deferred', 'indeterminate']);
/** First rows come soon; the rest in large pages. */
const firstPage = 200;
const laterPage = 1000;
/** A hundred events in a second are one or two requests. */
const pauseMs = 400;
const retryMs = 2000;

/**
 * The summaries of all steps, in planned order. News of an active run read the list again from its first open step; an undo or a gap in the
 * stream reads the whole list again.
 */
export function useSteps(runId: string): Steps {
  const [state, setState] = useState<Steps>({ steps: [], isWhole: false, error: null });
  const reader = useRef<{ again: (all: boolean) => void } | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    reader.current = createReader(runId, stop.signal, setState);
    return () => stop.abort();
  }, [runId]);
  useNews(
    useFollowedRun(),
    useCallback(({ frames, gap }) => {
      const isUndone = frames.some(({ event }) => event === 'run.rewound');
      if (gap || frames.some(({ event }) => ofSteps.test(event))) reader.current?.again(gap || isUndone);
    }, []),
  );
  return state;
}

const ofSteps = /^(step|turn|run|calls|approval)\./;

function createReader(runId: string, signal: AbortSignal, show: (state: Steps) => void) {
  let steps: StepSummary[] = [];
  let isReading = false;
  let due: 'none' | 'open' | 'all' = 'all';
  const read = async (): Promise<void> => {
    if (isReading || due === 'none' || signal.aborted) return;
    isReading = true;
    const isAll = due === 'all';
    due = 'none';
    try {
      await readFrom(isAll ? 0 : firstOpen(steps));
      show({ steps, isWhole: true, error: null });
    } catch (error) {
      if (!signal.aborted) show({ steps, isWhole: false, error });
      // An API that is away or busy is asked again; a refusal is not.
      if (error instanceof NoAnswer || (isProblem(error) && error.status >= 429)) due = 'all';
    }
    const wait = due === 'all' ? retryMs : pauseMs;
    setTimeout(() => {
      isReading = false;
      void read();
    }, wait);
  };
  void read();
  return {
    again(all: boolean): void {
      due = all || due === 'all' ? 'all' : 'open';
      void read();
    },
  };

  /** Replaces the list from this place on, page by page. */
  async function readFrom(place: number): Promise<void> {
    const first = steps[place];
    let kept = steps.slice(0, place);
    let cursor: string | undefined;
    do {
      const limit = kept.length === 0 ? firstPage : laterPage;
      const from = cursor === undefined ? first?.id : undefined;
      const query = { view: 'summary', limit, cursor, from };
      const page = await ask<Page<StepSummary>>({ path: runPath(runId, '/steps'), query, signal });
      kept = [...kept, ...page.data];
      cursor = page.next_cursor ?? undefined;
      // Known rows below stay until they are replaced: the page does not jump.
      if (kept.length >= steps.length) {
        steps = kept;
        show({ steps, isWhole: cursor === undefined, error: null });
      }
    } while (cursor !== undefined);
    steps = kept;
  }
}

/** Index of the first open step: steps after an open step may be new. */
function firstOpen(steps: readonly StepSummary[]): number {
  const at = steps.findIndex(({ status }) => open.has(status));
  return at < 0 ? Math.max(0, steps.length - 1) : at;
}
