import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EgressProxy } from './egress-proxy.ts';
import { createGuard } from './guard.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import { listen, loopbackGuard, recorder, stop } from './testing/network.ts';

const TOKEN = 'token-of-this-run-0123456789abcdefghij';
const AUTHORIZATION = `Proxy-Authorization: Basic ${Buffer.from(`holdpoint:${TOKEN}`).toString('base64')}\r\n`;
const servers: Server[] = [];
const proxies: EgressProxy[] = [];
let { connections, onConnection } = recorder();
beforeEach(() => {
  ({ connections, onConnection } = recorder());
});
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy[Symbol.asyncDispose]()));
  await Promise.all(servers.splice(0).map(stop));
});

async function open(limits: Partial<ProxyLimits>, handler: (socket: Socket) => void) {
  const target = createServer((socket) => {
    socket.on('error', () => {});
    handler(socket);
  });
  servers.push(target);
  const targetPort = await listen(target);
  const guard = loopbackGuard([`good.test:${targetPort}`]);
  const proxy = new EgressProxy({ guard, token: TOKEN, onConnection, limits });
  proxies.push(proxy);
  const server = createServer();
  const port = await listen(server);
  proxy.serve(server);
  return { port, connectLine: `CONNECT good.test:${targetPort} HTTP/1.1\r\n${AUTHORIZATION}\r\n` };
}

function talk(port: number, text: string) {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => {});
  socket.write(text);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  const answered = new Promise<string>((resolve) => socket.once('data', () => resolve(received)));
  return { socket, closed, answered };
}

test('headers that trickle are cut', async () => {
  const { port } = await open({ header_ms: 150 }, () => {});
  const { socket, closed } = talk(port, 'CONNECT good.test:443 HTTP/1.1\r\n');
  const trickle = setInterval(() => socket.write('x-a: b\r\n'), 10);
  expect(await closed).toBe('');
  clearInterval(trickle);
  await expect.poll(() => connections).toMatchObject([{ host: '', verdict: 'refused', code: 'ETIMEOUT' }]);
});

test('headers over the limit are 431', async () => {
  const { port } = await open({ header_bytes: 2048 }, () => {});
  const { closed } = talk(port, `GET http://good.test/ HTTP/1.1\r\nx-long: ${'x'.repeat(4000)}\r\n\r\n`);
  expect(await closed).toMatch(/^HTTP\/1\.1 431 /);
});

test('an idle tunnel is cut, a busy one is not', async () => {
  const { port, connectLine } = await open({ idle_ms: 1000, header_ms: 500 }, (socket) => socket.pipe(socket));
  const idle = talk(port, connectLine);
  const busy = talk(port, connectLine);
  await Promise.all([idle.answered, busy.answered]);
  const trickle = setInterval(() => busy.socket.write('x'), 20);
  await idle.closed;
  await new Promise((resolve) => busy.socket.once('data', resolve)); // still echoes
  clearInterval(trickle);
  expect(connections).toMatchObject([{ verdict: 'allowed', code: 'ETIMEOUT' }]);
  busy.socket.destroy();
});

test('a busy tunnel is cut after its total time', async () => {
  const { port, connectLine } = await open({ total_ms: 250 }, (socket) => socket.pipe(socket));
  const { socket, closed } = talk(port, connectLine);
  const trickle = setInterval(() => socket.write('x'), 10);
  await closed;
  clearInterval(trickle);
  await expect.poll(() => connections).toMatchObject([{ verdict: 'allowed', code: 'ETIMEOUT' }]);
});

test('one connection too many is 503, and another fits when one has ended', async () => {
  const { port, connectLine } = await open({ connections: 2 }, () => {});
  const [first, second] = [talk(port, connectLine), talk(port, connectLine)];
  await Promise.all([first.answered, second.answered]);
  expect(await talk(port, connectLine).closed).toMatch(/^HTTP\/1\.1 503 /);
  await expect.poll(() => connections).toMatchObject([{ verdict: 'refused', code: 'EPROXYBUSY' }]);
  first.socket.destroy();
  await expect.poll(() => connections).toHaveLength(2);
  const third = talk(port, connectLine);
  expect(await third.answered).toMatch(/^HTTP\/1\.1 200 /);
});

test("the run's bytes are used up once", async () => {
  const bytes = 1024 * 1024;
  const endless = (socket: Socket) => {
    const chunk = Buffer.alloc(16 * 1024);
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
  };
  const { port, connectLine } = await open({ bytes }, endless);
  await talk(port, connectLine).closed;
  await expect.poll(() => connections).toMatchObject([{ verdict: 'allowed', code: 'ETOOLARGE' }]);
  expect(connections[0]?.bytes_down).toBeLessThan(2 * bytes);
  expect(await talk(port, connectLine).closed).toMatch(/^HTTP\/1\.1 403 [\s\S]*ETOOLARGE/);
});

test('a resolver that hangs is 504', async () => {
  const guard = createGuard({ rules: ['good.test'], resolve: () => new Promise(() => {}) });
  const proxy = new EgressProxy({ guard, token: TOKEN, onConnection, limits: { connect_ms: 100 } });
  proxies.push(proxy);
  const server = createServer();
  const port = await listen(server);
  proxy.serve(server);
  const { closed } = talk(port, `CONNECT good.test:443 HTTP/1.1\r\n${AUTHORIZATION}\r\n`);
  expect(await closed).toMatch(/^HTTP\/1\.1 504 [\s\S]*ETIMEOUT/);
});

test('a client that goes away takes its connection with it', async () => {
  const gone = Promise.withResolvers<void>();
  const { port, connectLine } = await open({}, (socket) => socket.once('close', () => gone.resolve()).resume());
  const { socket, answered } = talk(port, connectLine);
  await answered;
  socket.resetAndDestroy();
  await gone.promise;
  await expect.poll(() => connections).toHaveLength(1);
});

test.each([{ idle_ms: 0 }, { connections: -1 }, { bytes: 1.5 }, { total_ms: 2 ** 31 }])(
  'the limit %j is no limit',
  (limits) => {
    const guard = createGuard({ rules: [] });
    expect(() => new EgressProxy({ guard, token: TOKEN, onConnection, limits })).toThrow(RangeError);
  },
);
