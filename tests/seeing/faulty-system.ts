import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { queuePrefix } from '@holdpoint/engine/worker';
import { Redis } from 'ioredis';
import {
  type AppProcess,
  bash,
  finished,
  nextApproval,
  openModelServer,
  plan,
  type System,
  startSystem,
  until,
} from '../harness/index.ts';
import { doEverything } from './do-everything.ts';
import { type Prometheus, startPrometheus } from './start-prometheus.ts';

/** A worker on a busy machine does not count as dead while its locks live this long. */
const times = {
  ...{ HOLDPOINT_LOCK_MS: '10000', HOLDPOINT_STALLED_MS: '2000' },
  ...{ HOLDPOINT_SWEEP_MS: '1000', HOLDPOINT_DRAIN_MS: '500' },
};

export interface FaultySystem {
  system: System;
  /** A worker of the list was killed in a step. */
  workers: AppProcess[];
  prometheus: Prometheus;
  stop(): Promise<void>;
}

/** A system on this machine, scraped by Prometheus, after an example of everything and the faults needed for some series. */
export async function startFaultySystem(): Promise<FaultySystem> {
  await using started = new AsyncDisposableStack();
  const model = started.use(await startModel());
  const site = createServer((_request, response) => void response.end('hello'));
  await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
  started.defer(() => void site.close());
  const system = await startSystem(
    {
      HOLDPOINT_METRICS: '127.0.0.1:0',
      HOLDPOINT_MODEL: 'openai-compatible/local',
      HOLDPOINT_MODEL_PRICES: JSON.stringify({ 'openai-compatible/local': { input: 3, output: 15 } }),
      OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
      HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32',
      // No collector listens there: telemetry is lost, and nothing else.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '500',
    },
    times,
  );
  started.use(system);
  const workers = [await system.startWorker(), await system.startWorker()];
  const prometheus = await startPrometheus({
    directory: join(system.directory, 'prometheus'),
    api: new URL(system.api.url()).host,
    workers: workers.map(placeOf),
    key: system.key,
  });
  started.defer(() => prometheus.stop());
  const everything = { system, site: `127.0.0.1:${(site.address() as AddressInfo).port}` };
  const ending = new AbortController();
  started.defer(() => ending.abort());
  await holdOne(system, ending.signal);
  // Twice: a counter seen once has no rate yet.
  await doEverything(everything);
  await prometheus.scraped();
  await doEverything(everything);
  await loseWorker({ system, workers, prometheus });
  await loseQueues({ system, prometheus });
  const parts = started.move();
  return { ...{ system, workers, prometheus }, stop: () => parts.disposeAsync() };
}

const placeOf = ({ ready }: AppProcess): string => new URL(String(ready.metrics)).host;

/** Calls a tool and ends; refuses the key, or asks to come back later, on the prompt's wish. */
function startModel() {
  const throttled = new Set<string>();
  return openModelServer(({ prompt, results }) => {
    if (prompt.includes('refused')) return { refusal: 401 };
    if (prompt.includes('later') && !throttled.has(prompt)) {
      throttled.add(prompt);
      return { refusal: 429 };
    }
    return results.length > 0
      ? { text: 'done', streamed: true }
      : { calls: [{ tool: 'list_directory', args: { path: '.' } }] };
  });
}

/** A run in wait for a person, with a following client and an approval close to its expiry. */
async function holdOne({ client }: System, signal: AbortSignal): Promise<void> {
  const { run } = await client.createRun({
    plan: plan([{ tool: 'write_file', args: { path: 'a.txt', content: 'a\n' } }]),
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }], approval_timeout_s: 1200 },
  });
  await nextApproval(client, run.id);
  const follow = async (): Promise<void> => {
    for await (const _ of client.events(run.id, { signal }));
  };
  // The stream ends with the test, or with Redis.
  follow().catch(() => undefined);
}

/** Redis gets a limit of memory and loses its queues: the sweep makes the job of the waiting run again. */
async function loseQueues({ system, prometheus }: Pick<FaultySystem, 'system' | 'prometheus'>): Promise<void> {
  const redis = new Redis(system.redis.address);
  await redis.config('SET', 'maxmemory', String(2 ** 30));
  await redis.unlink(...(await redis.keys(`${queuePrefix}:*`)));
  redis.disconnect();
  await until('the sweep repaired a run', async () => (await prometheus.query('holdpoint_repairs_total')).length > 0);
}

/** A worker without the task of following the logs dies in a step; the other worker repeats the step. */
async function loseWorker({ system, workers, prometheus }: Omit<FaultySystem, 'stop'>): Promise<void> {
  const { client } = system;
  const [follower] = await prometheus.query('holdpoint_follower_active == 1');
  const victim = workers.find((worker) => follower !== undefined && placeOf(worker) !== follower.metric.instance);
  if (victim === undefined) throw new Error('no worker follows the logs');
  const steps = Array.from({ length: 8 }, () => client.createRun({ plan: plan([bash('sleep 3')]) }));
  const runs = (await Promise.all(steps)).map(({ run }) => run.id);
  const hasBegun = async (id: string) => (await client.listSteps(id)).data[0]?.status === 'running';
  for (const id of runs.slice(0, 4)) await until('a step runs', () => hasBegun(id));
  await victim.signal('SIGKILL');
  for (const id of runs) await finished(client, id);
}
