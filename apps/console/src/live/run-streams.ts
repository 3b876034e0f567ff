import { follow } from './follow.ts';
import type { Frame, FromHub, Topic } from './messages.ts';

/** Browsers open six connections to a server at most: two stay free for requests beside the stream of all runs. */
const mostStreams = 3;
/** A run without a stream of its own is read again this long after a change. */
const hintMs = 2000;

interface Stream {
  again(): void;
  close(): void;
}

export interface RunStreams {
  /** Another tab wants these streams: each begins again, so that the tab gets the live text from its beginning, too. */
  join(topics: readonly Topic[]): void;
  /** Follows the first wishes, and closes the other streams. */
  settle(wishes: readonly Topic[]): void;
  /** A frame of the stream of all runs. The frame may name a run whose own stream has ended, or has no connection. */
  notice(frame: Frame): void;
  again(): void;
  close(): void;
}

/** The streams of single runs that tabs show, each once for all tabs. */
export function createRunStreams(send: (message: FromHub) => void, isSuccessor: boolean): RunStreams {
  const open = new Map<string, Stream>();
  /** Paths whose stream has ended with its run. A later change opens the stream again. */
  const ended = new Set<string>();
  /** The last id of each wished stream: a reopened stream continues there. */
  const places = new Map<string, string | undefined>();
  const hints = new Map<string, ReturnType<typeof setTimeout>>();
  let wished: ReadonlySet<string> = new Set();

  return {
    join(topics) {
      for (const { path, after } of topics) {
        places.set(path, earlier(places.get(path), after));
        ended.delete(path);
        close(path);
      }
    },
    settle(wishes) {
      wished = new Set(wishes.map(({ path }) => path));
      for (const path of places.keys()) if (!wished.has(path)) forget(path);
      fill();
    },
    notice(frame) {
      if (frame.event !== 'run.changed' || open.size === wished.size) return;
      const { id } = JSON.parse(frame.data) as { id: string };
      const path = [...wished].find((each) => each.includes(`/${id}/`));
      if (path === undefined || open.has(path)) return;
      ended.delete(path);
      fill();
      if (!open.has(path)) hint(path);
    },
    again() {
      for (const stream of open.values()) stream.again();
    },
    close() {
      for (const path of open.keys()) close(path);
      for (const timer of hints.values()) clearTimeout(timer);
    },
  };

  function fill(): void {
    const kept = [...wished].filter((path) => !ended.has(path)).slice(0, mostStreams);
    for (const path of open.keys()) if (!kept.includes(path)) close(path);
    for (const path of kept) if (!open.has(path)) open.set(path, start(path));
  }

  function close(path: string): void {
    open.get(path)?.close();
    open.delete(path);
  }

  function forget(path: string): void {
    close(path);
    ended.delete(path);
    places.delete(path);
  }

  function start(path: string): Stream {
    const closing = new AbortController();
    const batch = createBatch((frames) => send({ kind: 'frames', topic: path, frames }));
    const { again } = follow({
      path: `${path}?live=true`,
      lastId: places.get(path),
      signal: closing.signal,
      onFrame: (frame) => {
        if (frame.id !== undefined) places.set(path, frame.id);
        batch(frame);
      },
      // The stream continues behind its last id, so nothing is missing, unless the tabs have different last ids.
      onOpen: (isResumed) => {
        if (isSuccessor || !isResumed) send({ kind: 'gap', topic: path });
      },
      onLost: (why) => {
        if (why === 'session') send({ kind: 'session' });
      },
      onOver: () => {
        open.delete(path);
        ended.add(path);
        fill();
      },
    });
    return { again, close: () => closing.abort() };
  }

  /** The tabs of a run without a connection read the run again, once for many changes. */
  function hint(path: string): void {
    if (hints.has(path)) return;
    const tell = (): void => {
      hints.delete(path);
      send({ kind: 'gap', topic: path });
    };
    hints.set(path, setTimeout(tell, hintMs));
  }
}

const earlier = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || other === undefined ? (one ?? other) : String(Math.min(Number(one), Number(other)));

/** Frames of one moment go to the tabs together. */
export function createBatch(flush: (frames: Frame[]) => void): (frame: Frame) => void {
  let waiting: Frame[] = [];
  return (frame) => {
    waiting.push(frame);
    if (waiting.length > 1) return;
    setTimeout(() => {
      const frames = waiting;
      waiting = [];
      flush(frames);
    }, 0);
  };
}
