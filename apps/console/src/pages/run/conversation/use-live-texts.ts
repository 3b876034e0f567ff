import type { LiveFrame } from '@holdpoint/contract';
import { useCallback, useState } from 'react';
import { useNews } from '../../../live/live.ts';
import { useFollowedRun } from '../shown-run.ts';

/** What a source has written so far. */
export interface Written {
  key: string;
  kind: LiveFrame['kind'];
  turn: number | undefined;
  stepId: string | undefined;
  since: string;
  text: string;
  hasEnded: boolean;
}

/** Longest kept text of a source, in UTF-16 units; its beginning is dropped first. */
const longest = 200_000;

/** The texts that are written now: by the model, and by commands of steps. In no log; their results are in the turns and steps. */
export function useLiveTexts(runId: string): Written[] {
  const [texts, setTexts] = useState<ReadonlyMap<string, Written>>(new Map());
  // biome-ignore lint/correctness/useExhaustiveDependencies: another run is another page
  const take = useCallback<Parameters<typeof useNews>[1]>(
    ({ frames }) => {
      const live = frames.filter(({ event }) => event === 'live').map(({ data }) => JSON.parse(data) as LiveFrame);
      if (live.length > 0) setTexts((now) => live.reduce(add, new Map(now)));
    },
    [runId],
  );
  useNews(useFollowedRun(), take);
  return [...texts.values()].filter(({ hasEnded, kind }) => !(hasEnded && kind.startsWith('model.')));
}

function add(texts: Map<string, Written>, frame: LiveFrame): Map<string, Written> {
  const { kind, turn, index, step_id: stepId, prepare, since, offset, text, ended } = frame;
  const key = [kind, turn ?? stepId ?? prepare, index].join('/');
  const known = texts.get(key);
  const isSame = known?.since === since;
  // Text between the end of the last piece and this piece is gone: the page says so instead of joining them.
  const before = isSame ? known.text : offset > 0 ? '[…]\n' : '';
  const whole = (before + text).slice(-longest);
  return texts.set(key, { key, kind, turn, stepId, since, text: whole, hasEnded: ended === true });
}
