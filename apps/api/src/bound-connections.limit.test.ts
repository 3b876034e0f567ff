import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from './testing/test-api.ts';

const most = 100;
let api: TestApi;
let port: number;
beforeAll(async () => {
  api = await startTestApi({ mostConnections: most });
  port = Number(new URL(api.address).port);
});
afterAll(() => api.stop());

const open = new Set<Socket>();
let isOver = false;
afterEach(() => {
  isOver = true;
  for (const socket of open) socket.destroy();
  open.clear();
});

/** A connection that asks for nothing, or writes a byte of a head now and then; it comes back when it is closed. */
function occupy(kind: 'idle' | 'dripping'): void {
  if (isOver) return;
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' }).on('error', () => {});
  open.add(socket);
  if (kind === 'dripping') socket.write('GET /healthz HTTP/1.1\r\nX-Slow: ');
  const drip = setInterval(() => kind === 'dripping' && socket.write('x'), 200);
  socket.once('close', () => {
    clearInterval(drip);
    open.delete(socket);
    setTimeout(() => occupy(kind), 1000).unref();
  });
}

/** The status of an answer on a connection of its own. */
const ask = (path: string, localAddress: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${api.key}` };
    request({ host: '127.0.0.1', port, path, localAddress, headers, agent: false, timeout: 20_000 }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    })
      .on('timeout', () => reject(new Error(`${path} from ${localAddress}: no answer in 20 s`)))
      .on('error', reject)
      .end();
  });
const held = () => promisify(api.running.app.server.getConnections.bind(api.running.app.server))();

test('2,000 idle and dripping connections of one address leave every other client its answers', async () => {
  isOver = false;
  const stream = connect({ port, host: '127.0.0.1' });
  stream.write(
    `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${api.key}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  await once(stream, 'data');
  for (let at = 0; at < 2000; at++) occupy(at % 2 === 0 ? 'idle' : 'dripping');
  await expect.poll(held, { timeout: 20_000 }).toBeGreaterThan(most / 2);
  for (let round = 0; round < 20; round++) {
    for (const address of ['127.0.0.2', '127.0.0.1']) {
      expect([address, await ask('/v1/runs', address)]).toEqual([address, 200]);
    }
  }
  // The stream is older than all of them, and was asked for.
  expect(stream.destroyed).toBe(false);
  stream.destroy();
}, 120_000);

test('a connection that sends nothing is closed after a short time', async () => {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const from = performance.now();
  await once(socket, 'close');
  expect(performance.now() - from).toBeLessThan(20_000);
});

test('one address has three quarters of the places', async () => {
  isOver = false;
  for (let at = 0; at < most; at++) open.add(connect({ port, host: '127.0.0.1' }).on('error', () => {}));
  await expect.poll(held).toBe(most * 0.75);
});
