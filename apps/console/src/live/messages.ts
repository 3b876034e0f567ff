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

/** A server-sent event. Without data: only an id, from which the stream continues. */
export interface Frame {
  id: string | undefined;
  event: string;
  data: string;
}

/** Reads a text/event-stream (WHATWG HTML, 9.2.6), whatever the chunks; comments count as a sign of life. */
export function createFrameReader(onFrame: (frame: Frame) => void): (text: string) => void {
  let rest = '';
  let frame: { id?: string; event: string; data: string[] } = { event: '', data: [] };
  const line = (text: string): void => {
    if (text === '') {
      if (frame.data.length > 0 || frame.id !== undefined) {
        onFrame({ id: frame.id, event: frame.event || 'message', data: frame.data.join('\n') });
      }
      frame = { event: '', data: [] };
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') frame.data.push(value);
    else if (field === 'event') frame.event = value;
    else if (field === 'id' && !value.includes('\0')) frame.id = value;
  };
  return (text) => {
    rest += text;
    // A CR at the very end may be the first half of CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const each of lines) line(each);
  };
}
