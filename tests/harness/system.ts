import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Client, createClient } from '@holdpoint/client';
import type { EmbeddedRedis } from '@holdpoint/embedded-redis';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { unmountTrees } from '@holdpoint/workspace/trees';
import { type AppProcess, startApp } from './processes.ts';
import { replayEveryRun } from './replay-every-run.ts';
import { directoryWith, repositoryWith } from './repositories.ts';
import { until } from './until.ts';

/** The parts of a system for tests that change neither its processes nor its settings. */
export interface Shared {
  client: Client;
  /** A source for runs with these files, removed with the system. */
  directoryWith(files: Record<string, string>): Promise<string>;
  repositoryWith(files: Record<string, string>): Promise<string>;
  /** Host path of the folder of a run's workspace. */
  folder(runId: string): string;
  /** Host path of its newest staging tree, or of the first tree before the tree exists. */
  tree(runId: string): string;
}

/** A complete Holdpoint of real processes on a temporary data directory: Redis, an API, any number of workers. Each can be killed. */
export interface System extends Shared, AsyncDisposable {
  directory: string;
  dataDir: string;
  /** The environment of API and workers. A change counts for later starts. */
  settings: Record<string, string>;
  key: string;
  /** A client with another key. */
  as(key: string): Client;
  redis: { address: string; pid(): number; isAlive(): boolean; kill(): Promise<void>; start(): Promise<void> };
  api: {
    url(): string;
    pid(): number;
    isAlive(): boolean;
    kill(signal?: NodeJS.Signals): Promise<void>;
    start(): Promise<void>;
  };
  /** A second API process on the same data directory. @param preload a module loaded by Node before the API */
  startOtherApi(env?: Record<string, string>, preload?: string): Promise<AppProcess & { client: Client }>;
  /** @param preload a module loaded by Node before the worker. @param through a program with arguments to start the worker */
  startWorker(env?: Record<string, string>, preload?: string, through?: readonly string[]): Promise<AppProcess>;
  /** Ends every process, judges every recorded call again, and keeps the files. */
  stop(): Promise<void>;
  /** Ends every process, without judging calls again. */
  end(): Promise<void>;
}

/** Shorter times than a user's, to save the tests a wait. */
const quick = {
  HOLDPOINT_LOCK_MS: '2000',
  HOLDPOINT_STALLED_MS: '1000',
  HOLDPOINT_SWEEP_MS: '1000',
  HOLDPOINT_DRAIN_MS: '500',
};

/**
 * @param times default: short times; with `{}` the system has the times of a user
 * @param disk a directory for the data; the logs of the processes are outside
 */
export async function startSystem(
  env: Record<string, string> = {},
  times: Record<string, string> = quick,
  disk?: string,
): Promise<System> {
  const directory = await mkdtemp(join(tmpdir(), 'hp-system-'));
  const dataDir = join(disk ?? directory, 'data');
  const processes: AppProcess[] = [];
  let server: EmbeddedRedis = await startTestRedis(dataDir);
  const settings: Record<string, string> = {
    HOLDPOINT_DATA: dataDir,
    REDIS_URL: server.path,
    HOLDPOINT_LOG: 'info',
    ...times,
    ...env,
  };

  const startApi = async (port: string, env = {}, preload?: string): Promise<AppProcess> => {
    const app = await startApp({
      entry: 'apps/api/src/main.ts',
      env: { ...settings, HOLDPOINT_PORT: port, ...env },
      preload,
      logFile: join(directory, 'api.log'),
      isReady: (line) => line.event === 'listening',
    });
    processes.push(app);
    return app;
  };
  let api = await startApi('0');
  const url = String(api.ready.address);
  const key = (await readFile(join(dataDir, 'api-key'), 'utf8')).trim();
  const client = createClient({ baseUrl: url, key });

  const endApps = async (): Promise<void> => {
    for (const app of processes.reverse()) if (alive(app.pid)) await app.signal('SIGKILL');
  };
  const stop = async (): Promise<void> => {
    await endApps();
    const redis = await startTestRedis(dataDir);
    await replayEveryRun(redis.path, dataDir).finally(() => redis.stop());
    await client.close();
  };
  return {
    directory,
    dataDir,
    settings,
    as: (other) => createClient({ baseUrl: url, key: other }),
    client,
    stop,
    async end() {
      await endApps();
      await unmountTrees(dataDir, 10_000);
      await (await startTestRedis(dataDir)).stop();
      await client.close();
    },
    key,
    redis: {
      address: server.path,
      pid: () => server.pid,
      isAlive: () => alive(server.pid),
      async kill() {
        process.kill(server.pid, 'SIGKILL');
        await until('Redis is gone', () => !alive(server.pid));
      },
      async start() {
        server = await startTestRedis(dataDir);
      },
    },
    api: {
      url: () => url,
      pid: () => api.pid,
      isAlive: () => api.isAlive(),
      kill: (signal = 'SIGKILL') => api.signal(signal),
      async start() {
        api = await startApi(new URL(url).port);
      },
    },
    async startOtherApi(extra = {}, preload) {
      const app = await startApi('0', extra, preload);
      return { ...app, client: createClient({ baseUrl: String(app.ready.address), key }) };
    },
    async startWorker(extra = {}, preload, through) {
      const app = await startApp({
        entry: 'apps/worker/src/main.ts',
        env: { ...settings, ...extra },
        logFile: join(directory, `worker-${processes.length}.log`),
        isReady: (line) => line.event === 'ready',
        preload,
        through,
      });
      processes.push(app);
      return app;
    },
    ...shareOf({ directory, dataDir }),
    async [Symbol.asyncDispose]() {
      await stop();
      // Sandboxes of killed workers are ending.
      await unmountTrees(dataDir, 10_000);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What concerns the files of a system. */
export const shareOf = ({ directory, dataDir }: Pick<System, 'directory' | 'dataDir'>): Omit<Shared, 'client'> => ({
  directoryWith: (files) => directoryWith(files, directory),
  repositoryWith: (files) => repositoryWith(files, directory),
  folder: (runId) => join(dataDir, 'runs', runId),
  tree: (runId) => newestTree(join(dataDir, 'runs', runId, 'trees')),
});

/** Each take-over creates a tree, named by its epoch. Next to the trees is the folder with the fixed parts of the repository. */
function newestTree(trees: string): string {
  const epochs = existsSync(trees) ? readdirSync(trees).map(Number).filter(Number.isInteger) : [];
  return join(trees, String(Math.max(1, ...epochs)));
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Processes of this machine with `text` in their command line, without the `ps` process. */
export async function processesWith(text: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid,args']);
  return stdout.split('\n').filter((line) => line.includes(text) && !line.includes('ps -eo'));
}
