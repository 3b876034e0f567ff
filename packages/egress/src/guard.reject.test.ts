import { afterEach, expect, test } from 'vitest';
import { connectGuarded } from './connect.ts';
import { createGuard, type Guard, type Resolve } from './guard.ts';
import { loopback, loopbackServers, openCanary, rejects } from './testing/network.ts';

const { signal } = new AbortController();
const servers = loopbackServers();
afterEach(servers.close);

const serve = () => servers.tcp((socket) => socket.end('hello'));
const connect = (guard: Guard, target: { host: string; port: number }) =>
  connectGuarded({ guard, connectMs: 5000, signal }, target);

function names(map: Readonly<Record<string, readonly string[]>>): Resolve {
  return (host) => {
    const addresses = map[host];
    return addresses ? Promise.resolve(addresses) : Promise.reject(new Error(`ENOTFOUND ${host}`));
  };
}

test('a listed name is pinned to its addresses', async () => {
  const resolve = names({ 'example.com': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'] });
  const guard = createGuard({ rules: ['example.com'], resolve });
  expect(await guard.check({ host: 'EXAMPLE.com.', port: 443 }, signal)).toEqual({
    host: 'example.com',
    port: 443,
    addresses: ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  });
});

test('an unlisted name is not resolved', async () => {
  const asked: string[] = [];
  const guard = createGuard({
    rules: ['example.com'],
    resolve: async (host) => {
      asked.push(host);
      return ['93.184.216.34'];
    },
  });
  const check = guard.check({ host: 'secret-in-a-name.evil.test', port: 443 }, signal);
  await rejects(check, 'EHOSTNOTALLOWED', { next: expect.stringContaining('secret-in-a-name.evil.test:443') });
  await rejects(guard.check({ host: 'example.com', port: 22 }, signal), 'EHOSTNOTALLOWED');
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
])('a name with an answer that is %s is refused', async (_kind, addresses) => {
  const guard = createGuard({ rules: ['example.com'], resolve: names({ 'example.com': addresses }) });
  await rejects(guard.check({ host: 'example.com', port: 443 }, signal), 'EADDRESSREFUSED');
});

test.each(['93.184.216.34', '127.0.0.1', '0x7f.1', '2130706433', '[::1]', '::ffff:127.0.0.1', '127.1'])(
  'the literal %s is refused',
  async (host) => {
    const guard = createGuard({ rules: ['example.com', '*.example.com'], resolve: names({}) });
    await rejects(guard.check({ host, port: 443 }, signal), 'EHOSTNOTALLOWED');
  },
);

test('an opened address passes only where a rule names it', async () => {
  const guard = createGuard({ rules: ['127.0.0.1:8080'], allowAddresses: loopback, resolve: names({}) });
  expect(await guard.check({ host: '127.1', port: 8080 }, signal)).toMatchObject({ addresses: ['127.0.0.1'] });
  await rejects(guard.check({ host: '127.0.0.1', port: 8081 }, signal), 'EHOSTNOTALLOWED');
  await rejects(guard.check({ host: '127.0.0.2', port: 8080 }, signal), 'EHOSTNOTALLOWED');
});

test('a name that does not resolve is a retryable error', async () => {
  const guard = createGuard({ rules: ['*.example.com'], resolve: names({ 'none.example.com': [] }) });
  for (const host of ['none.example.com', 'missing.example.com']) {
    await rejects(guard.check({ host, port: 443 }, signal), 'ENETWORK', { retryable: true });
  }
});

test('an aborted signal ends the wait for a resolver', async () => {
  const guard = createGuard({ rules: ['example.com'], resolve: () => new Promise(() => {}) });
  const controller = new AbortController();
  const checking = guard.check({ host: 'example.com', port: 443 }, controller.signal);
  controller.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
});

test('a resolver that changes its answer cannot move the connection', async () => {
  const port = await serve();
  const canary = await openCanary('127.0.0.2', port);
  const answers = [['127.0.0.1'], ['127.0.0.2']];
  const guard = createGuard({
    rules: [`rebind.test:${port}`],
    allowAddresses: loopback,
    resolve: () => Promise.resolve(answers.shift() ?? []),
  });
  const { socket, address } = await connect(guard, { host: 'rebind.test', port });
  expect([address, socket.remoteAddress]).toEqual(['127.0.0.1', '127.0.0.1']);
  socket.destroy();
  await rejects(connect(guard, { host: 'rebind.test', port }), 'EADDRESSREFUSED');
  expect(canary.connections()).toBe(0);
  await canary.close();
});

test('the address of a connected socket is judged again', async () => {
  const port = await serve();
  const guard = createGuard({ rules: ['example.com'], resolve: names({ 'example.com': ['93.184.216.34'] }) });
  const pinned = await guard.check({ host: 'example.com', port: 443 }, signal);
  expect(guard.confirm(pinned, '::ffff:93.184.216.34')).toBe('93.184.216.34');
  for (const other of ['127.0.0.1', '93.184.216.35', undefined]) {
    expect(() => guard.confirm(pinned, other)).toThrow(expect.objectContaining({ code: 'EADDRESSREFUSED' }));
  }
  // as if the network redirected the connection elsewhere
  const misled: Guard = { ...guard, check: async () => ({ ...pinned, port, addresses: ['127.0.0.1'] }) };
  await rejects(connect(misled, pinned), 'EADDRESSREFUSED');
});

test('the next address is tried when one refuses', async () => {
  const port = await serve();
  const options = { rules: [`two.test:${port}`], allowAddresses: ['127.0.0.0/8'] };
  const guard = createGuard({ ...options, resolve: names({ 'two.test': ['127.0.0.3', '127.0.0.1'] }) });
  const { socket, address } = await connect(guard, { host: 'two.test', port });
  expect(address).toBe('127.0.0.1');
  socket.destroy();
});

test('a port without a listener is ENETWORK', async () => {
  const canary = await openCanary();
  await canary.close();
  const guard = createGuard({
    rules: [`gone.test:${canary.port}`],
    allowAddresses: loopback,
    resolve: names({ 'gone.test': ['127.0.0.1'] }),
  });
  await rejects(connect(guard, { host: 'gone.test', port: canary.port }), 'ENETWORK', { retryable: true });
});
