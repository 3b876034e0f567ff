import { createECDH, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bash, plan } from '../harness/runs.ts';
import { type System, startSystem } from '../harness/system.ts';
import { until } from '../harness/until.ts';

/** A push service on this machine. A push about another approval has another topic. */
const topics: string[] = [];
let mayAnswer = Promise.resolve();
let service: Server;
let system: System;
let redis: Redis;
beforeAll(async () => {
  service = createServer(async (request, response) => {
    topics.push(String(request.headers.topic));
    request.resume();
    await mayAnswer;
    response.writeHead(201).end();
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  system = await startSystem({ HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32' });
  redis = new Redis(system.redis.address);
  await system.startWorker();
  const { port } = service.address() as AddressInfo;
  const p256dh = createECDH('prime256v1').generateKeys().toString('base64url');
  const keys = { p256dh, auth: randomBytes(16).toString('base64url') };
  await system.client.subscribeToPushes({ endpoint: `http://127.0.0.1:${port}/push`, keys });
});
afterAll(async () => {
  redis?.disconnect();
  await system?.[Symbol.asyncDispose]();
  service?.closeAllConnections();
  service?.close();
});

async function park(title: string): Promise<void> {
  const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
  await system.client.createRun({ title, policy, plan: plan([bash('true')]) });
}
const noneIsDue = async (): Promise<boolean> => (await redis.keys('{hp-0}:pushes:psh_*')).length === 0;

test('of two API processes that see the same approvals, one sends each push', async () => {
  const other = await system.startOtherApi();
  await Promise.all(Array.from({ length: 12 }, (_, at) => park(`Approval ${at}`)));
  await until('twelve pushes came', () => new Set(topics).size === 12);
  await until('no push is due', noneIsDue);
  expect(topics).toHaveLength(12);
  await other.client.close();
  await other.signal('SIGKILL');
});

test('an API that is killed while the push service takes a push sends it once more, not never', async () => {
  const before = topics.length;
  const { promise, resolve } = Promise.withResolvers<void>();
  mayAnswer = promise;
  await park('Its sender is killed');
  await until('the push service has the push', () => topics.length === before + 1);
  await system.api.kill('SIGKILL');
  resolve();
  await system.api.start();
  // The queue takes a job back from a dead process after 30 s, and looks every 30 s.
  await until('the push came again', () => topics.length > before + 1, { withinMs: 120_000 });
  await until('no push is due', noneIsDue);
  expect(topics.slice(before)).toEqual([topics.at(-1), topics.at(-1)]);
}, 200_000);
