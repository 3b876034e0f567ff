import { openHub } from './hub.ts';
import { allTopic, type FromHub, type ToHub } from './messages.ts';

/** One stream for all tabs of the browser. */
const ports = new Set<MessagePort>();
const send = (message: FromHub): void => {
  for (const port of ports) port.postMessage(message);
};
const hub = openHub(send);

(globalThis as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  port.onmessage = ({ data }: MessageEvent<ToHub>) => {
    if (data.kind === 'leave') ports.delete(port);
    hub.take(data);
  };
  port.postMessage({ kind: 'state', state: hub.state() } satisfies FromHub);
  // The tab may have read its lists before its port was here.
  port.postMessage({ kind: 'gap', topic: allTopic.path } satisfies FromHub);
};
