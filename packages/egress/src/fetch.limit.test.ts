import type { Socket } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { type FetchRequest, openGuardedFetch } from './guarded-fetch.ts';
import { loopbackGuard, loopbackServers, recorder } from './testing/network.ts';

const servers = loopbackServers();
afterEach(servers.close);

/** A server that answers with raw bytes. */
const serveRaw = (handler: (socket: Socket) => void) =>
  servers.tcp((socket) => socket.once('data', () => handler(socket)));

async function run(port: number, request: Partial<FetchRequest> = {}) {
  const { connections, onConnection } = recorder();
  await using web = openGuardedFetch({ guard: loopbackGuard([`good.test:${port}`]), onConnection });
  const signal = AbortSignal.timeout(20_000);
  const settled = await web.fetch({ url: `http://good.test:${port}/`, signal, ...request }).then(
    (result) => ({ result, error: null }),
    (error: unknown) => ({ result: null, error: error as { code: string; message: string } }),
  );
  return { ...settled, connections };
}

const mib = 1024 * 1024;
const zeros = Buffer.alloc(200 * mib);
const bombs = {
  gzip: gzipSync(zeros, { level: 9 }),
  br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  deflate: deflateSync(zeros, { level: 9 }),
  'gzip, gzip': gzipSync(gzipSync(zeros, { level: 9 }), { level: 9 }),
};
test.each(Object.entries(bombs))('a %s bomb of 200 MiB is cut while it streams', async (encoding, bomb) => {
  const port = await servers.http((_request, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(bomb),
  );
  const limits = { body_bytes: mib };
  const before = process.memoryUsage().arrayBuffers;
  const { result } = await run(port, { limits });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * mib);
  expect([result?.truncated, result?.body.length]).toEqual([true, mib]);
  const { error } = await run(port, { limits, tooLarge: 'fail' });
  expect(error).toMatchObject({ code: 'ETOOLARGE', message: expect.stringContaining('after decompression') });
});

test.each([
  ['gzip', gzipSync('words')],
  ['x-gzip', gzipSync('words')],
  ['br', brotliCompressSync('words')],
  ['deflate', deflateSync('words')],
  ['gzip, br', brotliCompressSync(gzipSync('words'))],
  ['identity', Buffer.from('words')],
])('a body in %s is decompressed', async (encoding, body) => {
  const port = await servers.http((_request, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body),
  );
  const { result } = await run(port);
  expect([result?.body.toString(), result?.truncated]).toEqual(['words', false]);
});

test.each([
  ['zstd', Buffer.from('words')],
  ['constructor', Buffer.from('words')],
  ['gzip', Buffer.from('not gzip at all')],
  ['br', Buffer.from('not brotli at all')],
  ['gzip', gzipSync('words').subarray(0, 12)],
  ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync('words')))],
])('a body in %s that cannot be decoded is ENETWORK', async (encoding, body) => {
  const port = await servers.http((_request, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body),
  );
  expect((await run(port)).error).toMatchObject({
    code: 'ENETWORK',
    message: expect.stringContaining('response body'),
  });
});

test('a response without a body is not decoded', async () => {
  const port = await servers.http((request, response) =>
    response.writeHead(request.url === '/204' ? 204 : 200, { 'content-encoding': 'gzip' }).end(),
  );
  for (const request of [{ method: 'HEAD' }, { url: `http://good.test:${port}/204` }, {}]) {
    const { result, error } = await run(port, request);
    expect([request, error, result?.body.length]).toEqual([request, null, 0]);
  }
  const unknown = await servers.http((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'zstd' }).end(),
  );
  expect((await run(unknown, { method: 'HEAD' })).result?.status).toBe(200);
});

test('an endless body is cut and its connection closed', async () => {
  const hungUp = Promise.withResolvers<void>();
  const port = await servers.http((_request, response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    response.once('close', () => hungUp.resolve());
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', write);
    write();
  });
  const { result, connections } = await run(port, { limits: { body_bytes: mib, wire_bytes: 8 * mib } });
  expect([result?.truncated, result?.body.length]).toEqual([true, mib]);
  await hungUp.promise;
  expect(connections[0]?.bytes_down).toBeLessThan(8 * mib);
  const wire = await run(port, { limits: { body_bytes: 8 * mib, wire_bytes: mib }, tooLarge: 'fail' });
  expect(wire.error).toMatchObject({ code: 'ETOOLARGE', message: expect.stringContaining('before decompression') });
  const kept = await run(port, { limits: { body_bytes: 8 * mib, wire_bytes: mib } });
  expect([kept.result?.truncated, kept.result?.body.length]).toEqual([true, mib]);
});

test('a body of exactly the limit is not truncated', async () => {
  const port = await servers.http((_request, response) => response.end(Buffer.alloc(1000, 'x')));
  const { result } = await run(port, { limits: { body_bytes: 1000, wire_bytes: 1000 }, tooLarge: 'fail' });
  expect([result?.truncated, result?.body.length]).toEqual([false, 1000]);
});

test('response headers over the limit are ETOOLARGE', async () => {
  const port = await servers.http((_request, response) =>
    response.writeHead(200, { 'x-long': 'x'.repeat(9000) }).end(),
  );
  expect((await run(port, { limits: { header_bytes: 8192 } })).error).toMatchObject({ code: 'ETOOLARGE' });
  expect((await run(port)).result?.status).toBe(200);
});

test('slow response headers end at first_byte_ms', async () => {
  let closed = false;
  const port = await serveRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const trickle = setInterval(() => socket.write('x-a: b\r\n'), 10);
    socket.once('close', () => {
      closed = true;
      clearInterval(trickle);
    });
  });
  const { error, connections } = await run(port, { limits: { first_byte_ms: 200 } });
  expect(error).toMatchObject({ code: 'ETIMEOUT', message: expect.stringContaining('did not answer in 200 ms') });
  expect(connections).toHaveLength(1);
  await expect.poll(() => closed).toBe(true);
});

test('a server that accepts and never answers is ETIMEOUT', async () => {
  const port = await serveRaw(() => {});
  expect((await run(port, { limits: { first_byte_ms: 100 } })).error).toMatchObject({
    code: 'ETIMEOUT',
    retryable: true,
  });
});

test('a slow body ends at total_ms', async () => {
  const port = await serveRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const trickle = setInterval(() => socket.write('1\r\nx\r\n'), 10);
    socket.once('close', () => clearInterval(trickle));
  });
  const { error } = await run(port, { limits: { total_ms: 400 } });
  expect(error).toMatchObject({ code: 'ETIMEOUT', message: expect.stringContaining('whole answer') });
});

test('a response that breaks off or is not HTTP is ENETWORK', async () => {
  const early = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'));
  expect((await run(early)).error).toMatchObject({ code: 'ENETWORK', retryable: true });
  const other = await serveRaw((socket) => socket.end('220 smtp.example ESMTP\r\n'));
  expect((await run(other)).error).toMatchObject({ code: 'ENETWORK' });
});

test('the caller can cancel, and closing cancels every fetch', async () => {
  const port = await serveRaw(() => {});
  const controller = new AbortController();
  const running = run(port, { signal: controller.signal });
  controller.abort(new Error('no longer wanted'));
  expect((await running).error).toMatchObject({ message: 'no longer wanted' });
  const web = openGuardedFetch({ guard: loopbackGuard([`good.test:${port}`]), onConnection: () => {} });
  const fetching = web.fetch({ url: `http://good.test:${port}/`, signal: new AbortController().signal });
  const outcome = expect(fetching).rejects.toThrow('the guarded fetch was closed');
  await web[Symbol.asyncDispose]();
  await outcome;
});
