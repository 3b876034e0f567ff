import type { Frame } from './read-frames.ts';

/** What the page says of the stream. `behind`: it is open, and the page may show an older state for a moment. */
export type LiveState = { is: 'live' } | { is: 'behind' } | { is: 'offline'; since: number };

/** From the hub, which holds the stream, to each tab. */
export type FromHub =
  | { kind: 'state'; state: LiveState }
  | { kind: 'frames'; topic: string; frames: Frame[] }
  /** The stream was cut: what was read before may be old. */
  | { kind: 'gap'; topic: string }
  | { kind: 'session' }
  /** A tab leads from now on, and has to hear what the others watch. */
  | { kind: 'led' };

/** From a tab to the hub. `watch` names all streams of runs that the tab shows now. */
export type ToHub =
  | { kind: 'watch'; tab: string; topics: string[] }
  | { kind: 'leave'; tab: string }
  | { kind: 'again' };

/** The stream of all runs: always followed. */
export const allTopic = '/v1/events';

/** The way of a tab to the hub. */
export interface Connection {
  send(message: ToHub): void;
  close(): void;
}
