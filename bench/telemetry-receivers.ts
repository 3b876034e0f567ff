import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Receivers of OTLP over HTTP that keep nothing: the bench of telemetry starts them as a process of their own, and gets their addresses. */
const answers = {
  good: (response) => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(),
  hangs: () => undefined,
  drips(response) {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' });
    const timer = setInterval(() => response.write(' '), 500);
    response.on('close', () => clearInterval(timer));
  },
  'answers 503': (response) => response.writeHead(503, { 'retry-after': '1' }).end('no'),
  'answers garbage': (response) =>
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(Buffer.alloc(3000, 0xff)),
} satisfies Record<string, (response: ServerResponse) => void>;

const urls: Record<string, string> = {};
for (const [name, answer] of Object.entries(answers)) {
  const server = createServer((request, response) => request.resume().on('end', () => answer(response)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  urls[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
process.send?.(urls);
process.on('disconnect', () => process.exit());
