import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plan, type System, startSystem } from '../harness/index.ts';

let system: System;
let receiver: Server;
const taken = new Map<string, number[]>();
const ids = new Map<string, Set<string>>();
beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { run_id: string; seq: number } };
    const place = `${data.run_id} ${data.seq}`;
    ids.set(place, (ids.get(place) ?? new Set()).add(String(request.headers['webhook-id'])));
    taken.set(data.run_id, [...(taken.get(data.run_id) ?? []), data.seq]);
    // Some requests are under way when the API is killed.
    await delay(20);
    response.writeHead(204).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const secrets = { HOLDPOINT_SECRETS_KEY: randomBytes(32).toString('base64') };
  system = await startSystem({ ...secrets, HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32' });
  await system.startWorker();
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  receiver.close();
});

const pendingOf = (): Promise<number | undefined> =>
  system.client.getWebhook('ci').then(
    ({ pending }) => pending,
    () => undefined,
  );

test('every event arrives, in order and under one id, while API and Redis are killed again and again', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  await system.client.putWebhook('ci', { url, events: ['*'] });
  const runs: string[] = [];
  const step = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
  for (let kill = 0; kill < 6; kill++) {
    const { run } = await system.client.createRun({ plan: plan([step], [step]) });
    runs.push(run.id);
    await delay(100 + kill * 170);
    if (kill === 3) {
      await system.redis.kill();
      await system.redis.start();
    }
    await system.api.kill();
    await system.api.start();
  }
  for (const id of runs)
    await expect.poll(async () => (await system.client.getRun(id).catch(() => undefined))?.status).toBe('succeeded');
  const eventsOf = async (id: string) =>
    (await system.client.listEvents(id, { limit: 200 })).data.map(({ seq }) => seq);
  await expect
    .poll(async () => runs.map((id) => new Set(taken.get(id)).size), { timeout: 200_000 })
    .toEqual((await Promise.all(runs.map(eventsOf))).map(({ length }) => length));
  for (const id of runs) expect([...new Set(taken.get(id))]).toEqual(await eventsOf(id));
  for (const [place, under] of ids) expect([place, under.size]).toEqual([place, 1]);
  await expect.poll(pendingOf, { timeout: 100_000 }).toBe(0);
}, 300_000);
