import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Stands between the browser and the API, on loopback. */
export interface StreamProxy extends AsyncDisposable {
  url: string;
  /** Paths of the open streams. */
  open(): string[];
  /** Number of streams that were cut. */
  cuts(): number;
  /** Later streams wait until the returned function is called. */
  hold(): () => void;
}

/**
 * @param events number of events after which a stream is cut, in the middle of the next event where the API has sent more; undefined: none
 *   is cut
 */
export async function startStreamProxy(target: string, events?: number): Promise<StreamProxy> {
  const streams = new Map<ServerResponse, string>();
  const sockets = new Set<Socket>();
  let cuts = 0;
  let held = Promise.resolve();
  const server = createServer(async (incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const isStream = headers.accept === 'text/event-stream';
    if (isStream) await held;
    if (outgoing.destroyed) return;
    const onward = request(target + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!isStream) return answer.pipe(outgoing);
      streams.set(outgoing, url.replace(/\?.*/, ''));
      return passEvents(answer, outgoing, events, () => cuts++);
    });
    // A browser that leaves, or an API that goes away, ends the other side.
    outgoing.on('close', () => {
      streams.delete(outgoing);
      onward.destroy();
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => [...streams.values()],
    cuts: () => cuts,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function passEvents(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  events = Number.POSITIVE_INFINITY,
  onCut: () => void,
): void {
  let rest = '';
  let passed = 0;
  answer.setEncoding('utf8');
  answer.on('error', () => outgoing.destroy());
  answer.on('end', () => outgoing.end(rest));
  answer.on('data', (text: string) => {
    const frames = (rest + text).split(/(?<=\n\n)/);
    rest = frames.at(-1)?.endsWith('\n\n') ? '' : (frames.pop() ?? '');
    for (const frame of frames) {
      if (passed >= events) {
        onCut();
        outgoing.write(frame.slice(0, frame.length / 2), () => outgoing.destroy());
        return answer.destroy();
      }
      outgoing.write(frame);
      if (/^event: /m.test(frame)) passed++;
    }
    if (passed < events) return;
    onCut();
    // The event arrives before the end of the connection.
    outgoing.write(': cut\n', () => outgoing.destroy());
    answer.destroy();
  });
}
