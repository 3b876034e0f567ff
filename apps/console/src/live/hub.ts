import { follow } from './follow.ts';
import { allTopic, type FromHub, type LiveState, type ToHub } from './messages.ts';
import type { Frame } from './read-frames.ts';

/** Browsers open six connections to a server at most: two stay free for requests beside the stream of all runs. */
const mostRunTopics = 3;

export interface Hub {
  take(message: ToHub): void;
  /** For a tab that comes later. */
  state(): LiveState;
  close(): void;
}

interface Topic {
  again(): void;
  close(): void;
}

/**
 * Holds the streams of all tabs: in the SharedWorker, or in the tab that leads.
 * @param lastId the last id that any tab has seen, where another hub was before
 */
export function openHub(send: (message: FromHub) => void, lastId?: string): Hub {
  const topics = new Map<string, Topic>();
  /** The topics of each tab, in the order in which the tabs last spoke. */
  const tabs = new Map<string, readonly string[]>();
  let state: LiveState = { is: 'behind' };
  let heardAt = Date.now();

  const setState = (next: LiveState): void => {
    if (next.is === state.is) return;
    state = next;
    send({ kind: 'state', state });
  };
  const watching = setInterval(() => {
    if (state.is === 'live' && Date.now() - heardAt > quietMs) setState({ is: 'behind' });
  }, 5000);

  open(allTopic, lastId);
  return {
    take(message) {
      if (message.kind === 'again') for (const topic of topics.values()) topic.again();
      else if (message.kind === 'leave') tabs.delete(message.tab);
      else {
        tabs.delete(message.tab);
        tabs.set(message.tab, message.topics);
      }
      if (message.kind !== 'again') settleTopics();
    },
    state: () => state,
    close() {
      clearInterval(watching);
      for (const topic of topics.values()) topic.close();
    },
  };

  /** Opens what is watched, the newest wishes first, and closes the rest. */
  function settleTopics(): void {
    const wished = new Set([...tabs.values()].reverse().flat());
    const kept = new Set([allTopic, ...[...wished].slice(0, mostRunTopics)]);
    for (const [name, topic] of topics) {
      if (kept.has(name)) continue;
      topic.close();
      topics.delete(name);
    }
    for (const name of kept) if (!topics.has(name)) open(name);
  }

  function open(topic: string, from?: string): void {
    const closing = new AbortController();
    const batch = createBatch((frames) => send({ kind: 'frames', topic, frames }));
    const isAll = topic === allTopic;
    const { again } = follow({
      path: topic,
      lastId: from,
      signal: closing.signal,
      onFrame: batch,
      onSign: () => {
        if (!isAll) return;
        heardAt = Date.now();
        setState({ is: 'live' });
      },
      onOpen: (isGap) => {
        if (isGap) send({ kind: 'gap', topic });
      },
      onLost: (why) => {
        if (why === 'session') send({ kind: 'session' });
        if (isAll) setState({ is: 'offline', since: heardAt });
      },
    });
    topics.set(topic, { again, close: () => closing.abort() });
  }
}

/** A heartbeat comes every 15 s. */
const quietMs = 20_000;

/** Frames of one moment go to the tabs together. */
function createBatch(flush: (frames: Frame[]) => void): (frame: Frame) => void {
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
