import { useEffect, useSyncExternalStore } from 'react';
import { announceEnd } from '../api/session-end.ts';
import { connect } from './connect.ts';
import { allTopic, type Connection, type FromHub, type LiveState } from './messages.ts';
import type { Frame } from './read-frames.ts';

/** News for a listener, at most once per frame of the screen. With `gap`, frames may be missing, so the listener reads again. */
export interface News {
  frames: Frame[];
  gap: boolean;
}
type Listener = (news: News) => void;

const tab = crypto.randomUUID();
const listeners = new Map<string, Set<Listener>>();
const waiting = new Map<string, News>();
const stateListeners = new Set<() => void>();
let state: LiveState = { is: 'behind' };
let connection: Connection | undefined;
let isDue = false;

/** Joins the stream of the browser; called once the caller is logged in. */
export function goLive(): () => void {
  connection = connect(take);
  announceTopics();
  const leave = (): void => connection?.send({ kind: 'leave', tab });
  // A page that comes back from the cache of the browser joins again.
  const back = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) location.reload();
  };
  const tryAgain = (): void => connection?.send({ kind: 'again' });
  window.addEventListener('pagehide', leave);
  window.addEventListener('pageshow', back);
  window.addEventListener('online', tryAgain);
  return () => {
    leave();
    connection?.close();
    connection = undefined;
    window.removeEventListener('pagehide', leave);
    window.removeEventListener('pageshow', back);
    window.removeEventListener('online', tryAgain);
  };
}

/** The next try comes now: the person has logged in again, or asks for it. */
export const tryNow = (): void => connection?.send({ kind: 'again' });

/** @param topic the path of a stream: `/v1/events`, or `/v1/runs/ID/events?…` while the page shows the run */
export function listen(topic: string, listener: Listener): () => void {
  const some = listeners.get(topic) ?? new Set();
  listeners.set(topic, some.add(listener));
  if (some.size === 1) announceTopics();
  return () => {
    some.delete(listener);
    if (some.size > 0) return;
    listeners.delete(topic);
    announceTopics();
  };
}

/** The news of a topic while the component is mounted. */
export function useNews(topic: string | undefined, listener: Listener): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listener reads its surroundings when called
  useEffect(() => (topic === undefined ? undefined : listen(topic, listener)), [topic]);
}

export const useLiveState = (): LiveState =>
  useSyncExternalStore(
    (listener) => {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    () => state,
  );

function take(message: FromHub): void {
  if (message.kind === 'state') {
    state = message.state;
    for (const listener of stateListeners) listener();
  } else if (message.kind === 'session') announceEnd();
  else if (message.kind === 'frames') add(message.topic, { frames: message.frames, gap: false });
  else if (message.kind === 'gap') add(message.topic, { frames: [], gap: true });
}

function add(topic: string, { frames, gap }: News): void {
  if (!listeners.has(topic)) return;
  const some = waiting.get(topic) ?? { frames: [], gap: false };
  some.frames.push(...frames);
  some.gap ||= gap;
  waiting.set(topic, some);
  if (isDue) return;
  isDue = true;
  // A hidden tab has no frames.
  if (document.hidden) setTimeout(flush, 1000);
  else requestAnimationFrame(flush);
}

function flush(): void {
  isDue = false;
  const news = [...waiting];
  waiting.clear();
  for (const [topic, each] of news) for (const listener of listeners.get(topic) ?? []) listener(each);
}

function announceTopics(): void {
  const topics = [...listeners.keys()].filter((topic) => topic !== allTopic);
  connection?.send({ kind: 'watch', tab, topics });
}
