import type { LiveFrame } from '@holdpoint/contract';
import { useSyncExternalStore } from 'react';
import { useNews } from '../../live/live.ts';
import type { Frame, Topic } from '../../live/messages.ts';

/** What a source has written so far. */
export interface Written {
  key: string;
  kind: LiveFrame['kind'];
  turn: number | undefined;
  stepId: string | undefined;
  since: string;
  text: string;
  /** End of `text` in the whole text of the source. */
  end: number;
  hasEnded: boolean;
}

/** Longest kept text of a source, in UTF-16 units; its beginning is dropped first. */
const longest = 200_000;

/** Adds a piece of text to what its source has written before. */
export function join(key: string, before: Written | undefined, frame: LiveFrame): Written {
  const { kind, turn, step_id: stepId, since, offset, ended } = frame;
  const known = before?.since === since ? before : { text: '', end: 0 };
  // After a cut the stream begins again with known text.
  const news = frame.text.slice(Math.max(0, known.end - offset));
  // Text between the end of the last piece and this piece is gone: the page says so instead of joining them.
  const tear = offset > known.end ? `${known.text === '' ? '' : '\n'}[…]\n` : '';
  const text = `${known.text}${tear}${news}`.slice(-longest);
  const end = Math.max(known.end, offset + frame.text.length);
  return { key, kind, turn, stepId, since, text, end, hasEnded: ended === true };
}

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
