import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ProxySession } from './proxy-session.ts';

/** For a single hop only, with the headers named by Connection. */
const hopByHop = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'http2-settings'],
];

/**
 * Forwards a request over a connected socket, and the response back.
 *
 * @param input.host replaces the client's Host header
 * @param input.path with the query
 * @param input.inject replaces the client's headers of the same names
 */
export function forward(
  { session, headerBytes }: { session: ProxySession; headerBytes: number },
  input: {
    host: string;
    path: string;
    inject: readonly [string, string][];
    incoming: IncomingMessage;
    response: ServerResponse;
    socket: Socket;
  },
): void {
  const { host, path, inject, incoming, response, socket } = input;
  const isChunked = incoming.headers['transfer-encoding'] !== undefined;
  const abandon = () => session.client.destroy();
  const outgoing = request({
    createConnection: () => socket,
    method: incoming.method,
    path,
    headers: [
      ...['host', host, 'connection', 'close'],
      ...endToEnd(incoming, ['host', ...inject.map(([name]) => name.toLowerCase())]),
      ...inject.flat(),
      // Framed as by the client: Node does not know the length.
      ...(isChunked ? ['transfer-encoding', 'chunked'] : []),
    ],
    maxHeaderSize: headerBytes,
  });
  outgoing.on('error', abandon);
  outgoing.once('response', (answer) => {
    answer.on('data', (chunk: Buffer) => session.count(chunk.length));
    answer.on('error', abandon);
    response.on('error', abandon);
    response.sendDate = false;
    try {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [...endToEnd(answer), 'connection', 'close']);
    } catch {
      abandon(); // Node refuses to send a header.
      return;
    }
    answer.pipe(response);
  });
  if (!isChunked && incoming.headers['content-length'] === undefined) {
    outgoing.end();
    return;
  }
  incoming.on('data', (chunk: Buffer) => session.count(chunk.length));
  incoming.pipe(outgoing);
}

/** Keeps the raw header pairs for all hops. */
function endToEnd(message: IncomingMessage, without: readonly string[] = []): string[] {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopByHop, ...named, ...without]);
  const kept: string[] = [];
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = message.rawHeaders.slice(index, index + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
