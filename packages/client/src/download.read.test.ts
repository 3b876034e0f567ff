import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createClient } from './client.ts';
import { ConnectionError } from './errors.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A client of a server that answers every request in this way. */
async function clientOf(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'hp_x' });
  closing.push(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { client, server };
}

test('a download that is cut off is an error', async () => {
  const { client } = await clientOf((response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('half', () => response.destroy());
  });
  let text = '';
  const reading = async () => {
    for await (const chunk of await client.downloadArchive('run_x')) text += Buffer.from(chunk);
  };
  await expect(reading()).rejects.toThrow(ConnectionError);
  expect(text).toBe('half');
});

test('a download that is not read to its end gives its connection back', async () => {
  const { client, server } = await clientOf((response) => {
    response.writeHead(200);
    const more = () => response.write(Buffer.alloc(64 * 1024), (error) => (error ? undefined : more()));
    more();
  });
  const closed = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)));
  for await (const chunk of await client.readFile('run_x', { path: 'a' })) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  await closed;
});

test('a download ends when its signal is aborted', async () => {
  const { client } = await clientOf((response) => {
    response.writeHead(200);
    response.write('x');
  });
  const ending = new AbortController();
  const reading = async () => {
    for await (const _ of await client.downloadArchive('run_x', {}, { signal: ending.signal })) {
      ending.abort(new Error('enough'));
    }
  };
  await expect(reading()).rejects.toThrow('enough');
});
