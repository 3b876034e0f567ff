import { workerAddress } from '../platform/worker-address.ts';
import { leadOrListen } from './lead.ts';
import type { Connection, FromHub } from './messages.ts';

/** Each browser has one stream: a SharedWorker holds it. Without SharedWorker (Android before 2026, some WebViews) a leading tab does. */
export function connect(onMessage: (message: FromHub) => void): Connection {
  if (typeof SharedWorker === 'undefined') return leadOrListen(onMessage);
  const worker = new SharedWorker(workerAddress(LIVE_WORKER), { type: 'module', name: 'holdpoint' });
  worker.port.onmessage = ({ data }: MessageEvent<FromHub>) => onMessage(data);
  return {
    send: (message) => worker.port.postMessage(message),
    close: () => worker.port.close(),
  };
}
