import { workerAddress } from '../platform/worker-address.ts';
import { type Hub, openHub } from './hub.ts';
import { allTopic, type Connection, type FromHub, type ToHub, type Watch } from './messages.ts';

const name = 'holdpoint.live';
type Said = { to: 'tabs'; message: FromHub } | { to: 'leader'; message: ToHub };

/**
 * The tabs elect a leader by a Web Lock, which the browser hands on when the tab closes or crashes. The leader holds the streams and passes
 * their events to the others by a BroadcastChannel. The next leader continues where the last one stopped.
 */
function leadOrListen(onMessage: (message: FromHub) => void, wish: () => Watch): Connection {
  const channel = new BroadcastChannel(name);
  const closing = new AbortController();
  let hub: Hub | undefined;
  let lastId: string | undefined;
  /** A leader was heard. What it said before is unknown to this tab. */
  let isSuccessor = false;

  const hear = (message: FromHub): void => {
    if (message.kind === 'frames' && message.topic === allTopic.path) lastId = message.frames.at(-1)?.id ?? lastId;
    onMessage(message);
  };
  const toTabs = (message: FromHub): void => channel.postMessage({ to: 'tabs', message } satisfies Said);
  const toLeader = (message: ToHub): void => channel.postMessage({ to: 'leader', message } satisfies Said);
  const tell = (message: FromHub): void => {
    toTabs(message);
    hear(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.to === 'tabs') {
      if (!isSuccessor) onMessage({ kind: 'gap', topic: allTopic.path });
      isSuccessor = true;
      return data.message.kind === 'led' ? toLeader(wish()) : hear(data.message);
    }
    if (hub === undefined) return;
    hub.take(data.message);
    toTabs({ kind: 'state', state: hub.state() });
  };
  const lead = (): Promise<void> => {
    hub = openHub(tell, { lastId, isSuccessor });
    tell({ kind: 'state', state: hub.state() });
    hub.take(wish());
    toTabs({ kind: 'led' });
    return new Promise((resolve) => closing.signal.addEventListener('abort', () => resolve()));
  };
  void navigator.locks.request(name, { signal: closing.signal }, lead).catch((error: unknown) => {
    if (!closing.signal.aborted) throw error;
  });
  return {
    send(message) {
      if (hub === undefined) toLeader(message);
      else hub.take(message);
    },
    close() {
      closing.abort();
      hub?.close();
      channel.close();
    },
  };
}

/**
 * Each browser has one stream: a SharedWorker holds it. Without SharedWorker (Android before 2026, some WebViews) a leading tab does.
 * @param wish what the tab watches now
 */
export function connect(onMessage: (message: FromHub) => void, wish: () => Watch): Connection {
  if (typeof SharedWorker === 'undefined') return leadOrListen(onMessage, wish);
  const worker = new SharedWorker(workerAddress(LIVE_WORKER), { type: 'module', name: 'holdpoint' });
  worker.port.onmessage = ({ data }: MessageEvent<FromHub>) => onMessage(data);
  return {
    send: (message) => worker.port.postMessage(message),
    close: () => worker.port.close(),
  };
}
