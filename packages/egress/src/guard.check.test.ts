import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connectPinned } from './connect.ts';
import { createGuard } from './guard.ts';
import { LOOPBACK, listen, names, openCanary, stop } from './testing/network.ts';

const { signal } = new AbortController();
const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map(stop)));

async function serve(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).end('hello'));
  servers.push(server);
  return listen(server);
}

test('a listed name is pinned to what it resolves to', async () => {
  const resolve = names({ 'example.com': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'] });
  const guard = createGuard({ rules: ['example.com'], resolve });
  expect(await guard.check({ host: 'EXAMPLE.com.', port: 443 }, signal)).toEqual({
    host: 'example.com',
    port: 443,
    address: '93.184.216.34',
    addresses: ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  });
});

test('a name that is not listed is not even resolved', async () => {
  const asked: string[] = [];
  const guard = createGuard({
    rules: ['example.com'],
    resolve: async (host) => {
      asked.push(host);
      return ['93.184.216.34'];
    },
  });
  const check = guard.check({ host: 'secret-in-a-name.evil.test', port: 443 }, signal);
  await expect(check).rejects.toMatchObject({
    code: 'EHOSTNOTALLOWED',
    next: expect.stringContaining('secret-in-a-name.evil.test:443'),
  });
  await expect(guard.check({ host: 'example.com', port: 22 }, signal)).rejects.toMatchObject({
    code: 'EHOSTNOTALLOWED',
  });
  expect(asked).toEqual([]);
});

test('without rules the network is off', async () => {
  const check = createGuard({ rules: [] }).check({ host: 'example.com', port: 443 }, signal);
  await expect(check).rejects.toMatchObject({ code: 'ENETWORKOFF', retryable: false });
});

test.each([
  ['private', ['10.0.0.1']],
  ['mixed, private last', ['93.184.216.34', '10.0.0.1']],
  ['mixed, private first', ['fd00::1', '93.184.216.34']],
  ['metadata in IPv6', ['::ffff:169.254.169.254']],
  ['no address at all', ['93.184.216.34', 'internal.example']],
])('a name whose answer is %s is refused', async (_kind, addresses) => {
  const guard = createGuard({ rules: ['example.com'], resolve: names({ 'example.com': addresses }) });
  await expect(guard.check({ host: 'example.com', port: 443 }, signal)).rejects.toMatchObject({
    code: 'EADDRESSREFUSED',
  });
});

test.each(['93.184.216.34', '127.0.0.1', '0x7f.1', '2130706433', '[::1]', '::ffff:127.0.0.1', '127.1'])(
  'the literal %s is refused',
  async (host) => {
    const guard = createGuard({ rules: ['example.com', '*.example.com'], resolve: names({}) });
    await expect(guard.check({ host, port: 443 }, signal)).rejects.toMatchObject({ code: 'EHOSTNOTALLOWED' });
  },
);

test('an opened literal passes where a rule names it, and only there', async () => {
  const guard = createGuard({ rules: ['127.0.0.1:8080'], allowAddresses: LOOPBACK, resolve: names({}) });
  expect(await guard.check({ host: '127.1', port: 8080 }, signal)).toMatchObject({ address: '127.0.0.1' });
  await expect(guard.check({ host: '127.0.0.1', port: 8081 }, signal)).rejects.toMatchObject({
    code: 'EHOSTNOTALLOWED',
  });
  await expect(guard.check({ host: '127.0.0.2', port: 8080 }, signal)).rejects.toMatchObject({
    code: 'EHOSTNOTALLOWED',
  });
});

test('what does not resolve, or has no answer, can be tried again', async () => {
  const guard = createGuard({ rules: ['*.example.com'], resolve: names({ 'none.example.com': [] }) });
  for (const host of ['none.example.com', 'missing.example.com']) {
    await expect(guard.check({ host, port: 443 }, signal)).rejects.toMatchObject({ code: 'ENETWORK', retryable: true });
  }
});

test('a resolver that hangs is left when the signal aborts', async () => {
  const guard = createGuard({ rules: ['example.com'], resolve: () => new Promise(() => {}) });
  const controller = new AbortController();
  const checking = guard.check({ host: 'example.com', port: 443 }, controller.signal);
  controller.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
});

test('a resolver that changes its mind cannot move the connection', async () => {
  const port = await serve();
  const canary = await openCanary('127.0.0.2', port);
  const answers = [['127.0.0.1'], ['127.0.0.2']];
  const guard = createGuard({
    rules: [`rebind.test:${port}`],
    allowAddresses: LOOPBACK,
    resolve: () => Promise.resolve(answers.shift() ?? []),
  });
  const pinned = await guard.check({ host: 'rebind.test', port }, signal);
  const { socket, address } = await connectPinned({ guard, timeoutMs: 5000, signal }, pinned);
  expect([address, socket.remoteAddress]).toEqual(['127.0.0.1', '127.0.0.1']);
  socket.destroy();
  await expect(guard.check({ host: 'rebind.test', port }, signal)).rejects.toMatchObject({ code: 'EADDRESSREFUSED' });
  expect(canary.connections()).toBe(0);
  await canary.close();
});

test('a connected socket is looked at again', async () => {
  const port = await serve();
  const guard = createGuard({ rules: ['example.com'], resolve: names({ 'example.com': ['93.184.216.34'] }) });
  const pinned = await guard.check({ host: 'example.com', port: 443 }, signal);
  expect(guard.confirm(pinned, '::ffff:93.184.216.34')).toBe('93.184.216.34');
  for (const other of ['127.0.0.1', '93.184.216.35', undefined]) {
    expect(() => guard.confirm(pinned, other)).toThrow(expect.objectContaining({ code: 'EADDRESSREFUSED' }));
  }
  // as if a redirection in the network had led elsewhere
  const led = { ...pinned, port, addresses: ['127.0.0.1'] as const };
  await expect(
    connectPinned({ guard, timeoutMs: 5000, signal }, { ...led, addresses: ['127.0.0.1'] }),
  ).rejects.toMatchObject({
    code: 'EADDRESSREFUSED',
  });
});

test('the next address is tried when one does not answer', async () => {
  const port = await serve();
  const options = { rules: [`two.test:${port}`], allowAddresses: ['127.0.0.0/8'] };
  const guard = createGuard({ ...options, resolve: names({ 'two.test': ['127.0.0.3', '127.0.0.1'] }) });
  const pinned = await guard.check({ host: 'two.test', port }, signal);
  const { socket, address } = await connectPinned({ guard, timeoutMs: 5000, signal }, pinned);
  expect(address).toBe('127.0.0.1');
  socket.destroy();
});

test('a port where nobody listens is ENETWORK', async () => {
  const canary = await openCanary();
  await canary.close();
  const guard = createGuard({
    rules: [`gone.test:${canary.port}`],
    allowAddresses: LOOPBACK,
    resolve: names({ 'gone.test': ['127.0.0.1'] }),
  });
  const pinned = await guard.check({ host: 'gone.test', port: canary.port }, signal);
  await expect(connectPinned({ guard, timeoutMs: 5000, signal }, pinned)).rejects.toMatchObject({
    code: 'ENETWORK',
    retryable: true,
  });
});
