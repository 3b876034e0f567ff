import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Passage } from './passage.ts';
import type { ProxyLimits } from './proxy-limits.ts';

/** For one hop only, besides those that Connection names. */
const HOP_BY_HOP = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'http2-settings'],
];

/**
 * Sends a plain request on over a connected socket, and the answer back.
 *
 * @param input.url absolute; its host becomes the Host header, whatever the client wrote there
 */
export function forward(
  deps: { limits: ProxyLimits; passage: Passage },
  input: { url: URL; incoming: IncomingMessage; response: ServerResponse; socket: Socket },
): void {
  const { passage } = deps;
  const { url, incoming, response, socket } = input;
  const hasBody =
    incoming.headers['transfer-encoding'] !== undefined || incoming.headers['content-length'] !== undefined;
  const outgoing = request({
    createConnection: () => socket,
    method: incoming.method ?? 'GET',
    path: url.pathname + url.search,
    headers: [
      ...['host', url.host, 'connection', 'close'],
      ...endToEnd(incoming, ['host']),
      // as it came: Node knows the length of neither
      ...(incoming.headers['transfer-encoding'] === undefined ? [] : ['transfer-encoding', 'chunked']),
    ],
    maxHeaderSize: deps.limits.header_bytes,
  });
  outgoing.on('error', () => passage.client.destroy());
  outgoing.once('response', (answer) => {
    answer.on('data', (chunk: Buffer) => passage.count(chunk.length));
    answer.on('error', () => passage.client.destroy());
    response.on('error', () => passage.client.destroy());
    response.sendDate = false;
    try {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
        ...endToEnd(answer, []),
        'connection',
        'close',
      ]);
    } catch {
      passage.client.destroy(); // a header that may not be sent
      return;
    }
    answer.pipe(response);
  });
  if (!hasBody) {
    outgoing.end();
    return;
  }
  incoming.on('data', (chunk: Buffer) => passage.count(chunk.length));
  incoming.pipe(outgoing);
}

/** Raw header pairs without those that are for one hop. */
function endToEnd(message: IncomingMessage, without: readonly string[]): string[] {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named, ...without]);
  const kept: string[] = [];
  for (let index = 0; index < message.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = message.rawHeaders.slice(index, index + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
