import type { Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { EgressProxy } from './egress-proxy.ts';
import { createGuard } from './guard.ts';
import type { ProxyLimits } from './limits.ts';
import { loopbackServers } from './testing/network.ts';
import { ask, talk, testProxies, token } from './testing/proxy.ts';

const servers = loopbackServers();
const proxies = testProxies();
afterEach(async () => {
  await proxies.close();
  await servers.close();
});

async function open(limits: Partial<ProxyLimits>, handler: (socket: Socket) => void) {
  const target = await servers.tcp(handler);
  const proxy = await proxies.open([`good.test:${target}`], { limits });
  return { ...proxy, connectLine: ask(`CONNECT good.test:${target} HTTP/1.1`) };
}

test('slow request headers end the connection', async () => {
  const { port, connections } = await open({ header_ms: 150 }, () => {});
  const { socket, closed } = talk(port, 'CONNECT good.test:443 HTTP/1.1\r\n');
  const trickle = setInterval(() => socket.write('x-a: b\r\n'), 10);
  expect(await closed).toBe('');
  clearInterval(trickle);
  await expect.poll(() => connections).toMatchObject([{ host: '', verdict: 'refused', reason: 'ETIMEOUT' }]);
});

test('request headers over the limit get 431', async () => {
  const { port } = await open({ header_bytes: 2048 }, () => {});
  const { closed } = talk(port, `GET http://good.test/ HTTP/1.1\r\nx-long: ${'x'.repeat(4000)}\r\n\r\n`);
  expect(await closed).toMatch(/^HTTP\/1\.1 431 /);
});

test('an idle tunnel ends, a busy one stays', async () => {
  const { port, connectLine, connections } = await open({ idle_ms: 1000, header_ms: 500 }, (socket) =>
    socket.pipe(socket),
  );
  const idle = talk(port, connectLine);
  const busy = talk(port, connectLine);
  await Promise.all([idle.answered, busy.answered]);
  const trickle = setInterval(() => busy.socket.write('x'), 20);
  await idle.closed;
  await new Promise((resolve) => busy.socket.once('data', resolve)); // still echoes
  clearInterval(trickle);
  expect(connections).toMatchObject([{ verdict: 'allowed', reason: 'ETIMEOUT' }]);
  busy.socket.destroy();
});

test('a busy tunnel ends after its total time', async () => {
  const { port, connectLine, connections } = await open({ total_ms: 250 }, (socket) => socket.pipe(socket));
  const { socket, closed } = talk(port, connectLine);
  const trickle = setInterval(() => socket.write('x'), 10);
  await closed;
  clearInterval(trickle);
  await expect.poll(() => connections).toMatchObject([{ verdict: 'allowed', reason: 'ETIMEOUT' }]);
});

test('one connection too many gets 503, until another ends', async () => {
  const { port, connectLine, connections } = await open({ connections: 2 }, () => {});
  const [first, second] = [talk(port, connectLine), talk(port, connectLine)];
  await Promise.all([first.answered, second.answered]);
  expect(await talk(port, connectLine).closed).toMatch(/^HTTP\/1\.1 503 /);
  await expect.poll(() => connections).toMatchObject([{ verdict: 'refused', reason: 'EPROXYBUSY' }]);
  first.socket.destroy();
  await expect.poll(() => connections).toHaveLength(2);
  const third = talk(port, connectLine);
  expect(await third.answered).toMatch(/^HTTP\/1\.1 200 /);
});

test('the byte limit ends a tunnel, and refuses the next', async () => {
  const bytes = 1024 * 1024;
  const endless = (socket: Socket) => {
    const chunk = Buffer.alloc(16 * 1024);
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
  };
  const { port, connectLine, connections } = await open({ bytes }, endless);
  await talk(port, connectLine).closed;
  await expect.poll(() => connections).toMatchObject([{ verdict: 'allowed', reason: 'ETOOLARGE' }]);
  expect(connections[0]?.bytes_down).toBeLessThan(2 * bytes);
  expect(await talk(port, connectLine).closed).toMatch(/^HTTP\/1\.1 403 [\s\S]*ETOOLARGE/);
});

test('a resolver that hangs gets 504', async () => {
  const guard = createGuard({ rules: ['good.test'], resolve: () => new Promise(() => {}) });
  const { port } = await proxies.open([], { guard, limits: { connect_ms: 100 } });
  expect(await talk(port, ask('CONNECT good.test:443 HTTP/1.1')).closed).toMatch(/^HTTP\/1\.1 504 [\s\S]*ETIMEOUT/);
});

test('a client that disconnects ends its upstream connection', async () => {
  const gone = Promise.withResolvers<void>();
  const { port, connectLine, connections } = await open({}, (socket) =>
    socket.once('close', () => gone.resolve()).resume(),
  );
  const { socket, answered } = talk(port, connectLine);
  await answered;
  socket.resetAndDestroy();
  await gone.promise;
  await expect.poll(() => connections).toHaveLength(1);
});

test.each([{ idle_ms: 0 }, { connections: -1 }, { bytes: 1.5 }, { total_ms: 2 ** 31 }])(
  'the limit %j is invalid',
  (limits) => {
    const guard = createGuard({ rules: [] });
    expect(() => new EgressProxy({ guard, token, onConnection: () => {}, limits })).toThrow(RangeError);
  },
);
