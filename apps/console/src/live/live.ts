import { useEffect, useSyncExternalStore } from 'react';
import { announceEnd } from '../api/request.ts';
import { connect } from './connect.ts';
import * as messages from './messages.ts';

/** News for a listener, at most once per frame of the screen. With `gap`, frames may be missing, so the listener reads again. */
export interface News {
  frames: messages.Frame[];
  gap: boolean;
}
type Listener = (news: News) => void;

const tab = crypto.randomUUID();
/** By path of a stream, as all maps here. */
const listeners = new Map<string, Set<Listener>>();
const lastIds = new Map<string, string | undefined>();
const waiting = new Map<string, News>();
const stateListeners = new Set<() => void>();
let state: messages.LiveState = { is: 'behind' };
let connection: messages.Connection | undefined;
let isDue = false;

/** Joins the stream of the browser; called once the caller is logged in. */
export function goLive(): () => void {
  connection = connect(take, wish);
  announceTopics();
  // The streams of a caller before were refused, or had lost their session.
  tryNow();
  const stop = new AbortController();
  const { signal } = stop;
  const leave = (): void => connection?.send({ kind: 'leave', tab });
  // A page that comes back from the cache of the browser joins again.
  const back = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) location.reload();
  };
  window.addEventListener('pagehide', leave, { signal });
  window.addEventListener('pageshow', back, { signal });
  window.addEventListener('online', tryNow, { signal });
  // The tab in sight has its streams before hidden tabs.
  document.addEventListener('visibilitychange', announceTopics, { signal });
  return () => {
    leave();
    stop.abort();
    connection?.close();
    connection = undefined;
  };
}

/** The next try comes now: the person has logged in again, or asks for it. */
export const tryNow = (): void => connection?.send({ kind: 'again' });

export function listen({ path, after }: messages.Topic, listener: Listener): () => void {
  const some = listeners.get(path) ?? new Set();
  listeners.set(path, some.add(listener));
  if (some.size === 1) {
    lastIds.set(path, after);
    announceTopics();
  }
  return () => {
    some.delete(listener);
    if (some.size > 0) return;
    listeners.delete(path);
    lastIds.delete(path);
    waiting.delete(path);
    announceTopics();
  };
}

/** The news of a topic while the component is mounted. */
export function useNews(topic: messages.Topic | undefined, listener: Listener): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listener reads its surroundings when called
  useEffect(() => (topic === undefined ? undefined : listen(topic, listener)), [topic]);
}

export const useLiveState = (): messages.LiveState =>
  useSyncExternalStore(
    (listener) => {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    () => state,
  );

function take(message: messages.FromHub): void {
  if (message.kind === 'state') {
    state = message.state;
    for (const listener of stateListeners) listener();
  } else if (message.kind === 'session') announceEnd();
  else if (message.kind === 'frames') add(message.topic, { frames: message.frames, gap: false });
  else if (message.kind === 'gap') add(message.topic, { frames: [], gap: true });
}

function add(path: string, { frames, gap }: News): void {
  if (!listeners.has(path)) return;
  lastIds.set(path, frames.findLast(({ id }) => id !== undefined)?.id ?? lastIds.get(path));
  const some = waiting.get(path) ?? { frames: [], gap: false };
  some.frames.push(...frames);
  some.gap ||= gap;
  waiting.set(path, some);
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
  connection?.send(wish());
}

function wish(): messages.Watch {
  const paths = [...listeners.keys()].filter((path) => path !== messages.allTopic.path);
  const topics = paths.map((path) => ({ path, after: lastIds.get(path) }));
  return { kind: 'watch', tab, isHidden: document.hidden, topics };
}
