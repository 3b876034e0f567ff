/**
 * The cost of webhooks for a step: the latency of sequential no-op steps beside runs that record a hundred events a second, with 1,000
 * webhooks among which these events are divided, and without webhooks. The receiver runs in the process of the bench, so its work counts.
 *
 * npm run bench -- webhooks [--rounds 12]
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openDeliveryStore, type ReceiverState } from '@holdpoint/engine';
import { Redis } from 'ioredis';
import { startSystem, succeed } from '../tests/harness/index.ts';
import { judged, say, spread } from './figures.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { rounds: { type: 'string', default: '12' } },
});
const rounds = Number(values.rounds);
const webhooks = 1000;
const eventsPerSecond = 100;
const [stepsPerRun, backgroundSteps] = [150, 8];

let received = 0;
const receiver = createServer((request, response) => {
  received += 1;
  request.resume();
  response.writeHead(204).end();
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

const system = await startSystem(
  {
    ...{ HOLDPOINT_LOG: 'silent', HOLDPOINT_TOOLS: fileURLToPath(new URL('telemetry-tool.ts', import.meta.url)) },
    ...{ HOLDPOINT_SECRETS_KEY: randomBytes(32).toString('base64'), HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32' },
  },
  {},
);
await system.startWorker();
const redis = new Redis(system.redis.address);
const store = openDeliveryStore(redis);
const ending = new AbortController();
const nothing = (count: number) => ({
  ...{ toolset: 'nothing' as const },
  plan: { groups: Array.from({ length: count }, () => ({ steps: [{ tool: 'nothing', args: {} }] })) },
});
let background: Promise<void> | undefined;
try {
  await system.client.putWebhook('first', { url, events: ['*'], labels: { n: 'none' } });
  const first = await store.find('webhooks/default/first');
  if (first === undefined) throw new Error('no webhook');
  await succeed(system.client, nothing(stepsPerRun));
  background = runInBackground();
  await measure(rounds, first.state);
} finally {
  ending.abort();
  await background;
  redis.disconnect();
  receiver.close();
  await system.end();
}

async function measure(count: number, first: ReceiverState): Promise<void> {
  const [without, beside, ratios, rates]: number[][] = [[], [], [], []];
  for (let round = 0; round < count; round++) {
    const floor = await latency();
    await change(first, 'put');
    await pause(1000);
    const [from, before] = [performance.now(), received];
    const found = await latency();
    rates?.push((received - before) / ((performance.now() - from) / 1000));
    await change(first, 'remove');
    await pause(500);
    without?.push(floor);
    beside?.push(found);
    ratios?.push(found / floor);
  }
  say(`without webhooks    ${spread(without ?? [])} ms per step`);
  say(`${webhooks} webhooks      ${spread(beside ?? [])} ms per step, ${spread(rates ?? [], 0)} deliveries a second`);
  say(`ratio               ${judged(ratios ?? [], { atMost: 1.1 })}`);
}

/** Milliseconds per step of a run of sequential no-op steps. */
async function latency(): Promise<number> {
  const { id } = await succeed(system.client, nothing(stepsPerRun));
  const ends: number[] = [];
  for await (const { type, time } of system.client.events(id))
    if (type === 'step.succeeded') ends.push(Date.parse(time));
  return ((ends.at(-1) ?? 0) - (ends[0] ?? 0)) / (ends.length - 1);
}

/** Webhooks like the first, each for the runs with its label. */
async function change(first: ReceiverState, what: 'put' | 'remove'): Promise<void> {
  const since = new Date().toISOString();
  for (let n = 0; n < webhooks; n++) {
    const state = { ...first, name: `copy-${n}`, since, filter: { events: ['*'], labels: { n: String(n) } } };
    if (what === 'put') await store.put(state, { now: Date.now() });
    else await store.remove(state, (await store.find(`webhooks/default/copy-${n}`))?.revision ?? '');
  }
}

async function runInBackground(): Promise<void> {
  const { id } = await succeed(system.client, nothing(backgroundSteps));
  const { data } = await system.client.listEvents(id, { limit: 200 });
  const everyMs = (1000 * data.length) / eventsPerSecond;
  for (let n = 0; !ending.signal.aborted; n++) {
    await system.client.createRun({ ...nothing(backgroundSteps), labels: { n: String(n % webhooks) } });
    await pause(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
  }
}
