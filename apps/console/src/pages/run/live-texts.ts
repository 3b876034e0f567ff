import type { LiveFrame } from '@holdpoint/contract';
import { useSyncExternalStore } from 'react';
import { useNews } from '../../live/live.ts';
import type { Frame, Topic } from '../../live/messages.ts';
import { join, type Written } from './written.ts';

/** The texts of the shown run, whatever part of its page is open. */
let texts: ReadonlyMap<string, Written> = new Map();
let shown: Topic | undefined;
const listeners = new Set<() => void>();

/** Keeps what the model and the commands of the run write now. In no log; their results are in the turns and steps. */
export function useKeepLiveTexts(topic: Topic | undefined): void {
  useNews(topic, ({ frames }) => {
    if (shown !== topic) set(new Map());
    shown = topic;
    const live = frames.filter(({ event }) => event === 'live');
    if (live.length > 0) set(live.reduce(add, new Map(texts)));
  });
}

/** The texts that are written now: by the model, and by commands of steps. */
export function useLiveTexts(topic: Topic | undefined): Written[] {
  const all = useSyncExternalStore(listenToTexts, () => texts);
  if (topic === undefined || shown !== topic) return [];
  return [...all.values()].filter(({ hasEnded, kind }) => !(hasEnded && kind.startsWith('model.')));
}

function set(next: ReadonlyMap<string, Written>): void {
  texts = next;
  for (const listener of listeners) listener();
}

function listenToTexts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function add(known: Map<string, Written>, { data }: Frame): Map<string, Written> {
  const frame = JSON.parse(data) as LiveFrame;
  const key = [frame.kind, frame.turn ?? frame.step_id ?? frame.prepare, frame.index].join('/');
  return known.set(key, join(key, known.get(key), frame));
}
