import { type Hub, openHub } from './hub.ts';
import { allTopic, type Connection, type FromHub, type ToHub } from './messages.ts';

const name = 'holdpoint.live';

/**
 * The tabs elect a leader by a Web Lock, which the browser hands on when the tab closes or crashes. The leader holds the stream and passes its
 * events to the others by a BroadcastChannel. Each tab remembers the last id, so the next leader continues where the last one stopped.
 */
export function leadOrListen(onMessage: (message: FromHub) => void): Connection {
  const channel = new BroadcastChannel(name);
  const closing = new AbortController();
  let hub: Hub | undefined;
  let lastId: string | undefined;
  let wish: ToHub | undefined;

  const hear = (message: FromHub): void => {
    if (message.kind === 'frames' && message.topic === allTopic) lastId = message.frames.at(-1)?.id ?? lastId;
    onMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<{ to: 'tabs'; message: FromHub } | { to: 'leader'; message: ToHub }>) => {
    if (data.to === 'tabs') return data.message.kind === 'led' ? tellWish() : hear(data.message);
    if (hub === undefined) return;
    hub.take(data.message);
    channel.postMessage({ to: 'tabs', message: { kind: 'state', state: hub.state() } });
  };
  const tell = (message: FromHub): void => {
    channel.postMessage({ to: 'tabs', message });
    hear(message);
  };
  const tellWish = (): void => {
    if (wish !== undefined) channel.postMessage({ to: 'leader', message: wish });
  };
  void navigator.locks
    .request(name, { signal: closing.signal }, () => {
      hub = openHub(tell, lastId);
      if (wish !== undefined) hub.take(wish);
      channel.postMessage({ to: 'tabs', message: { kind: 'led' } });
      return new Promise<void>((resolve) => closing.signal.addEventListener('abort', () => resolve()));
    })
    .catch(() => undefined);
  return {
    send(message) {
      if (message.kind === 'watch') wish = message;
      if (hub === undefined) channel.postMessage({ to: 'leader', message });
      else hub.take(message);
    },
    close() {
      closing.abort();
      hub?.close();
      channel.close();
    },
  };
}
