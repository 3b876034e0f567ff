import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A receiver of OTLP over HTTP without storage: the bench of telemetry starts the receiver as a process of its own, gets its address, and
 * sends the behaviour to adopt from now on.
 */
const good = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
const answers: Record<string, (response: ServerResponse) => void> = {
  good,
  'good, again': good,
  hangs: () => undefined,
  drips(response) {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' });
    const timer = setInterval(() => response.write(' '), 500);
    response.on('close', () => clearInterval(timer));
  },
  'answers 503': (response) => response.writeHead(503, { 'retry-after': '1' }).end('no'),
  'answers garbage': (response) =>
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(Buffer.alloc(3000, 0xff)),
};

let answer = good;
const server = createServer((request, response) => request.resume().on('end', () => answer(response)));
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address() as AddressInfo;
process.send?.(`http://127.0.0.1:${port}`);

process.on('message', async (name: string) => {
  const gone = name === 'is gone';
  answer = answers[name] ?? good;
  // Hanging or dripping requests end together with their behaviour.
  server.closeAllConnections();
  if (gone && server.listening) await new Promise((resolve) => server.close(resolve));
  if (!gone && !server.listening) await once(server.listen(port, '127.0.0.1'), 'listening');
  process.send?.(name);
});
process.on('disconnect', () => process.exit());
