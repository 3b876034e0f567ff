import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallerLimits, callerLimitsFrom } from '@holdpoint/callers';
import { type Client, createClient } from '@holdpoint/client';
import { type ProblemDetails, problemDetailsSchema } from '@holdpoint/contract/wire';
import type { EmbeddedRedis } from '@holdpoint/embedded-redis';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { type Ceilings, type EngineDeps, newId, openBlobStore, openQueues } from '@holdpoint/engine';
import { connect } from '@holdpoint/engine/redis';
import { assertSoundVerdicts } from '@holdpoint/engine/testing';
import type { ModelSettings } from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import { noSecrets } from '@holdpoint/secrets/testing';
import type { MetricsSettings } from '@holdpoint/telemetry';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { unmountBelow } from '@holdpoint/workspace/testing';
import { type Logger, pino } from 'pino';
import { expect } from 'vitest';
import type { SignInSettings } from '../sign-in-settings.ts';
import { type Pace, type RunningApi, startApi } from '../start.ts';

/** A real API on a real Redis, in a temporary data directory. */
export interface TestApi {
  client: Client;
  key: string;
  address: string;
  dataDir: string;
  redis: EmbeddedRedis;
  /** The engine as another process would open it: for looking at Redis, and for moving runs on. */
  engine: EngineDeps;
  running: RunningApi;
  /** A request with the key, as it goes over the wire. */
  send(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Ends the server and starts another at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Options extends Pace {
  models?: ModelSettings;
  ceilings?: Ceilings;
  callerLimits?: Partial<CallerLimits>;
  logger?: Logger;
  secrets?: Secrets;
  host?: string;
  hostNames?: readonly string[];
  policyFile?: string;
  metrics?: MetricsSettings;
  allowAddresses?: readonly string[];
  publicUrl?: string;
  port?: number;
  signIn?: SignInSettings;
  githubWebhook?: string;
}

export async function startTestApi(options: Options = {}): Promise<TestApi> {
  const { models = {}, ceilings = {}, logger = pino({ level: 'silent' }), host = '127.0.0.1', ...rest } = options;
  const {
    hostNames = [],
    callerLimits = {},
    policyFile,
    metrics,
    secrets = noSecrets,
    allowAddresses = [],
    publicUrl,
    port = 0,
    signIn,
    githubWebhook,
    ...pace
  } = rest;
  const dataDir = await mkdtemp(join(tmpdir(), 'hp-api-'));
  const redis = await startTestRedis(dataDir);
  const config = {
    dataDir,
    host,
    hostNames,
    port,
    signIn,
    redisUrl: redis.path,
    logLevel: 'silent',
    models,
    ...{ allowAddresses, publicUrl },
    space: { floor: 0, reserve: 0 },
    ceilings,
    secrets,
    callerLimits: { ...callerLimitsFrom({}), ...callerLimits },
    policyFile,
    githubWebhook,
    ...(metrics !== undefined && { metrics }),
  } as const;
  const connections = connect(redis.path, pino({ level: 'silent' }));
  const queues = openQueues(connections.state, Date.now);
  const engine: EngineDeps = {
    redis: connections.state,
    queues,
    blobs: openBlobStore(join(dataDir, 'blobs')),
    logger: pino({ level: 'silent' }),
    newId,
    now: Date.now,
    catalog: createRegistry(everyToolset),
  };
  const stopStores = async (): Promise<void> => {
    await queues.close();
    await connections.close();
    await redis.stop();
    unmountBelow(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };
  const running = await startApi(config, logger, pace).catch(async (error: unknown) => {
    await stopStores();
    throw error;
  });
  const address = running.address.replace('0.0.0.0', '127.0.0.1');
  const key = (await readFile(join(dataDir, 'api-key'), 'utf8')).trim();
  const client = createClient({ baseUrl: address, key });
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${address}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  const test: TestApi = {
    client,
    key,
    address,
    dataDir,
    redis,
    engine,
    running,
    send,
    post: (path, body, headers = {}) =>
      send(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    async restart() {
      await test.running.close();
      test.running = await startApi({ ...config, port: Number(new URL(address).port) }, logger, pace);
    },
    async stop() {
      await client.close();
      await test.running.close();
      await assertSoundVerdicts(engine).finally(stopStores);
    },
  };
  return test;
}

/** A refusal, checked to be a whole problem of this API. */
export async function problemOf(response: Response): Promise<ProblemDetails> {
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  const problem = problemDetailsSchema.parse(await response.json());
  expect(problem.status).toBe(response.status);
  expect(problem.type).toBe(`urn:holdpoint:problem:${problem.code}`);
  expect(problem.next).not.toBe('');
  return problem;
}

/**
 * What is in Redis: equal before and after what must change nothing. Queues write their own `meta` key when they are opened, requests count,
 * and pushes are sent at any time.
 */
export async function contentOf({ redis }: Pick<EngineDeps, 'redis'>): Promise<Record<string, string>> {
  const keys = (await redis.keys('*'))
    .filter(
      (key) => !/:meta$|^hp:\{keys\}:(used$|rate:|streams:)|^\{hp-0\}:pushes:|^hp:\{push\}:(seen$|done:)/.test(key),
    )
    .sort();
  const contents = await Promise.all(keys.map((key) => contentOfKey(redis, key)));
  return Object.fromEntries(keys.map((key, at) => [key, contents[at] ?? '']));
}

/** The dump of a hash has its fields in an order that changes by itself. */
async function contentOfKey(redis: EngineDeps['redis'], key: string): Promise<string> {
  if ((await redis.type(key)) === 'hash') return JSON.stringify(Object.entries(await redis.hgetall(key)).sort());
  return (await redis.dumpBuffer(key))?.toString('base64') ?? '';
}
