import { workerAddress } from '../platform/worker-address.ts';
import { leadOrListen } from './lead.ts';
import type { Connection, FromHub, Watch } from './messages.ts';

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
