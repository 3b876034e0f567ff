import type { Frame } from './read-frames.ts';

/**
 * The state of the stream, as the page shows it. `behind`: the stream is open, and the page may show an older state for a moment. `refused`:
 * the caller's key has no right to the stream.
 */
export type LiveState = { is: 'live' } | { is: 'behind' } | { is: 'offline'; since: number } | { is: 'refused' };

/** A stream of the API. */
export interface Topic {
  path: string;
  /** Id of the last event that the tab has; the stream begins behind it. */
  after?: string | undefined;
}

/** From the hub, which holds the streams, to each tab. `topic` is the path of a stream. */
export type FromHub =
  | { kind: 'state'; state: LiveState }
  | { kind: 'frames'; topic: string; frames: Frame[] }
  /** Events may be missing: what was read before may be old. */
  | { kind: 'gap'; topic: string }
  | { kind: 'session' }
  /** A tab leads from now on, and has to hear what the others watch. */
  | { kind: 'led' };

/** From a tab to the hub. `watch` names all streams of runs that the tab shows now. */
export type ToHub = Watch | { kind: 'leave'; tab: string } | { kind: 'again' };
export interface Watch {
  kind: 'watch';
  tab: string;
  isHidden: boolean;
  topics: Topic[];
}

/** The stream of all runs: always followed. */
export const allTopic: Topic = { path: '/v1/events' };

/** The way of a tab to the hub. */
export interface Connection {
  send(message: ToHub): void;
  close(): void;
}
