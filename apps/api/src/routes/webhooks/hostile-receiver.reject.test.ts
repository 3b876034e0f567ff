import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuard, openGuardedFetch } from '@holdpoint/egress';
import { openSecrets, secretSettingsFrom } from '@holdpoint/secrets';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  const env = { HOLDPOINT_SECRETS_KEY: randomBytes(32).toString('base64') };
  const secrets = openSecrets(secretSettingsFrom(env, { dataDir: mkdtempSync(join(tmpdir(), 'hp-hostile-')) }));
  api = await startTestApi({ secrets, allowAddresses: ['127.0.0.1/32'] });
});
afterAll(() => api.stop());
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A receiver that answers as it likes: bytes on a socket. */
async function receive(answer: (socket: Socket) => void): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  servers.push(server);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/hook`, asked: () => asked };
}

async function sendTo(url: string) {
  await api.client.putWebhook('hostile', { url, events: ['run.*'] });
  const begun = performance.now();
  const answer = await api.client.testWebhook('hostile');
  return { ...answer, took: performance.now() - begun };
}

test.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed, whatever its place', async (status) => {
  const secret = await receive((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  for (const place of [secret.url, 'http://169.254.169.254/latest/meta-data/', 'file:///etc/passwd']) {
    const { url } = await receive((socket) =>
      socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${place}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await sendTo(url)).toMatchObject({ delivered: false });
  }
  expect(secret.asked()).toBe(0);
});

test('an answer of 1 GB costs 4 KB and no time', async () => {
  let written = 0;
  const { url } = await receive((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n');
    const chunk = Buffer.alloc(65_536);
    const more = (): void => {
      while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
    };
    socket.on('drain', more);
    more();
  });
  const before = process.memoryUsage().rss;
  const answer = await sendTo(url);
  expect(answer).toMatchObject({ delivered: true, status: 200 });
  expect(answer.took).toBeLessThan(5000);
  expect(written).toBeLessThan(100 * 1024 ** 2);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2);
});

test.each([
  ['headers that never end', 'HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'],
  ['a body that never ends', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\na\r\n'],
])(
  '%s are waited for 15 seconds, and the delivery failed',
  async (_, begin, drop) => {
    const { url } = await receive((socket) => {
      socket.write(begin);
      const dripping = setInterval(() => socket.write(drop), 500);
      socket.on('close', () => clearInterval(dripping));
    });
    const answer = await sendTo(url);
    expect(answer).toMatchObject({ delivered: false, error: expect.stringContaining('ETIMEOUT') });
    expect(answer.took).toBeGreaterThan(14_000);
    expect(answer.took).toBeLessThan(20_000);
  },
  40_000,
);

test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH\r\n'],
  ['headers of 1 MB', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(1024 ** 2)}\r\n\r\n`],
  ['a closed connection', ''],
  ['a status with text for a terminal', 'HTTP/1.1 599 \u001b[31m\r\ncontent-length: 0\r\n\r\n'],
])('%s is a failure without bytes of the answer', async (_, text) => {
  const { url } = await receive((socket) => socket.end(text));
  const answer = await sendTo(url);
  expect(answer.delivered).toBe(false);
  expect(answer.error).not.toContain('\u001b');
  expect(answer.error?.length).toBeLessThanOrEqual(500);
});

test('a name that becomes private between the check and the connection reaches nothing', async () => {
  const inside = await receive((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  const { port } = new URL(inside.url);
  let asked = 0;
  // The first answer is public, the others are this machine: the guard of a delivery resolves and judges once, for the connection itself.
  const guard = createGuard({
    rules: [`rebinding.example:${port}`],
    resolve: async () => (asked++ === 0 ? ['93.184.215.14'] : ['127.0.0.1']),
  });
  const target = { host: 'rebinding.example', port: Number(port) };
  await guard.check(target, AbortSignal.timeout(1000));
  await using web = openGuardedFetch({ guard, onConnection: () => undefined });
  const request = { url: `http://rebinding.example:${port}/hook`, method: 'POST', body: '{}' };
  await expect(web.fetch({ ...request, signal: AbortSignal.timeout(5000) })).rejects.toMatchObject({
    code: 'EADDRESSREFUSED',
  });
  expect(inside.asked()).toBe(0);
});
