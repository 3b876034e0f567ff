import { follow } from './follow.ts';
import { allTopic, type FromHub, type LiveState, type ToHub, type Topic, type Watch } from './messages.ts';
import { createBatch, createRunStreams } from './run-streams.ts';

export interface Hub {
  take(message: ToHub): void;
  /** For a tab that comes later. */
  state(): LiveState;
  close(): void;
}

interface Before {
  /** The last id that this tab has seen of the stream of all runs. */
  lastId?: string | undefined;
  /** Another tab led before: some of its events may have reached no tab. */
  isSuccessor?: boolean;
}

/** Holds the streams of all tabs: in the SharedWorker, or in the tab that leads. */
export function openHub(send: (message: FromHub) => void, { lastId, isSuccessor = false }: Before = {}): Hub {
  const runs = createRunStreams(send, isSuccessor);
  /** The wishes of each tab, in the order of the tabs' last words. */
  const tabs = new Map<string, Watch>();
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
  const closing = new AbortController();
  const batch = createBatch((frames) => send({ kind: 'frames', topic: allTopic.path, frames }));
  const all = follow({
    path: allTopic.path,
    lastId,
    signal: closing.signal,
    onFrame: (frame) => {
      runs.notice(frame);
      batch(frame);
    },
    onSign: () => {
      heardAt = Date.now();
      setState({ is: 'live' });
    },
    // The first time, too: a page may have read its lists before the stream was open.
    onOpen: () => send({ kind: 'gap', topic: allTopic.path }),
    onLost: (why) => {
      if (why === 'session') send({ kind: 'session' });
      setState({ is: 'offline', since: heardAt });
    },
    onRefused: () => setState({ is: 'refused' }),
  });

  return {
    take(message) {
      if (message.kind === 'again') {
        all.again();
        return runs.again();
      }
      const before = new Set(tabs.get(message.tab)?.topics.map(({ path }) => path));
      tabs.delete(message.tab);
      if (message.kind === 'watch') {
        tabs.set(message.tab, message);
        runs.join(message.topics.filter(({ path }) => !before.has(path)));
      }
      runs.settle(wishes([...tabs.values()]));
    },
    state: () => state,
    close() {
      clearInterval(watching);
      closing.abort();
      runs.close();
    },
  };
}

/** Tabs in sight come first, and among them the newest wish. */
function wishes(tabs: readonly Watch[]): Topic[] {
  const newest = tabs.toReversed();
  return [...newest.filter(({ isHidden }) => !isHidden), ...newest.filter(({ isHidden }) => isHidden)].flatMap(
    ({ topics }) => topics,
  );
}

/** A heartbeat comes every 15 s. */
const quietMs = 20_000;
