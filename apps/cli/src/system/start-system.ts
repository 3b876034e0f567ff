import { join } from 'node:path';
import type { Logger } from '@holdpoint/engine';
import { watchSpace } from '@holdpoint/engine/space';
import { metricsSettingsFrom } from '@holdpoint/telemetry/settings';
import { CliError, type Config } from '../shell/index.ts';
import { type LogLine, waitForLine } from './log-lines.ts';
import { checkInstallation, openRedis } from './open-redis.ts';
import { type ProcessIdentity, partScript } from './processes.ts';
import { quiet } from './quiet.ts';
import { rotateLogs } from './rotate-log.ts';
import { realPause, Supervised } from './supervised.ts';
import { drainMarginMs } from './system-record.ts';

/** The first start reads every file from a cold disk. */
const readyMs = 60_000;
const apiGraceMs = 10_000;

export interface RunningSystem {
  /** Address of the API. */
  address: string;
  /** A short description of Redis. */
  redis: string;
  /** Socket of the embedded Redis. */
  redisSocket: string | null;
  /** Stops the workers first, to let them drain, then the API, then the embedded Redis. */
  stop(): Promise<void>;
}

export interface StartInput {
  config: Config;
  workers: number;
  signal: AbortSignal;
  /** Once aborted, processes are killed at once. */
  hurry: AbortSignal;
  /** How long the start waits for a worker. @default 60_000 */
  workerReadyMs?: number;
  /** Called after every start of a process, with all running ones. */
  onChildren(children: { name: string; pid: number; began: string }[]): void;
  report(text: string): void;
}

/**
 * Starts Redis, then the API and the workers together, and waits until all are ready. On failure, stops every started part. A slow worker is no
 * failure: Redis and the API stay, and so does the worker.
 *
 * @throws CliError, EmbeddedRedisError, InstallationError, or the signal's reason
 */
export async function startSystem(input: StartInput): Promise<RunningSystem> {
  const { config, hurry } = input;
  const redis = await openRedis(config, input);
  input.report(`redis     ${redis.label}`);
  await checkInstallation(redis.address, config.dataDir).catch(async (error: unknown) => {
    await redis.stop();
    throw error;
  });
  const parts = partsOf(input, redis.address);
  const files = [...parts.all.map(({ logFile }) => logFile), ...(redis.logFile === null ? [] : [redis.logFile])];
  const endRotation = rotateLogs(files);
  // Not awaited: writing the reserve takes a moment, and no part's start needs the reserve.
  const space = watchSpace(
    { dataDir: config.dataDir, limits: config.space, keepsReserve: true },
    spaceReport(input.report),
  );
  const stop = async (): Promise<void> => {
    const graceMs = config.drainMs + drainMarginMs;
    await Promise.all(parts.workers.map((worker) => worker.stop({ graceMs, hurry })));
    const { unmountTrees } = await import('@holdpoint/workspace/trees');
    await Promise.all([parts.api.stop({ graceMs: apiGraceMs, hurry }), unmountTrees(config.dataDir)]);
    await redis.stop();
    endRotation();
    (await space).stop();
  };
  try {
    const address = await startParts(parts, input);
    return { address, redis: redis.label, redisSocket: redis.socket, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Environment = Readonly<Record<string, string>>;

interface Parts {
  api: Supervised;
  workers: Supervised[];
  all: readonly Supervised[];
  /** For the API. */
  environment: Environment;
  /** For each worker. */
  workerEnvironments: Environment[];
}

function partsOf({ config, workers, ...input }: StartInput, redisAddress: string): Parts {
  const environment = {
    // With compiled code, they start in two thirds of the time.
    NODE_COMPILE_CACHE: join(config.projectDir, '.cache/compiled'),
    ...config.childEnvironment,
    HOLDPOINT_DATA: config.dataDir,
    REDIS_URL: redisAddress,
  };
  const all: Supervised[] = [];
  const part = (name: string, app: 'api' | 'worker', own: Environment): Supervised => {
    const supervised = new Supervised(
      {
        onSpawn: () => input.onChildren(all.flatMap(identityOf)),
        report: input.report,
        now: () => performance.now(),
        pause: realPause,
      },
      {
        name,
        script: partScript(config.projectDir, app),
        environment: own,
        logFile: join(config.dataDir, 'logs', `${name}.log`),
      },
    );
    all.push(supervised);
    return supervised;
  };
  const api = part('api', 'api', environment);
  const workerEnvironments = Array.from({ length: workers }, (_, i) => ({
    ...environment,
    ...metricsPlace(environment, i),
  }));
  const started = workerEnvironments.map((own, i) => part(`worker-${i + 1}`, 'worker', own));
  return { api, workers: started, all, environment, workerEnvironments };
}

/** Turns log lines of the space watch into text for a person. */
function spaceReport(report: (text: string) => void): Logger {
  let last = '';
  const say = (fields: object, message: string): void => {
    const mebibytes = 'free' in fields ? ` (${Math.floor(Number(fields.free) / 1024 ** 2)} MiB free)` : '';
    const text = `disk: ${message}${mebibytes}`;
    if (message !== last) report(text);
    last = message;
  };
  return { ...quiet, info: say, warn: say, error: say };
}

const identityOf = ({ name, child }: Supervised): (ProcessIdentity & { name: string })[] =>
  child === undefined ? [] : [{ name, ...child.identity }];

/** @returns the API's address */
async function startParts(
  { api, workers, environment, workerEnvironments }: Parts,
  { report, signal, workerReadyMs = readyMs }: StartInput,
): Promise<string> {
  const failed = new AbortController();
  const ending = AbortSignal.any([signal, failed.signal]);
  const wait = { timeoutMs: readyMs, signal: ending };
  const apiReady = waitForLine(api.start(), { ...wait, find: addressIn }).then((address) => {
    report(`api       ready at ${address}`);
    return address;
  });
  const workersReady = workers.map((worker) =>
    workerReady(worker, { report, timeoutMs: workerReadyMs, signal: ending }),
  );
  const [address] = await Promise.all([apiReady, ...workersReady]).catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  // After a restart clients must find the API at the same port, even at a port chosen by the kernel.
  api.watch({ ...environment, HOLDPOINT_PORT: new URL(address).port });
  for (const [i, worker] of workers.entries()) worker.watch(workerEnvironments[i] ?? environment);
  return address;
}

/** Resolves when the worker is ready, or late: then the system runs while its line is still awaited. */
async function workerReady(
  worker: Supervised,
  { report, ...wait }: { report: (text: string) => void; timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const child = worker.start();
  const ready = async (timeoutMs: number): Promise<void> => {
    const { metrics } = await waitForLine(child, { ...wait, timeoutMs, find: readyLine });
    report(`${worker.name.padEnd(9)} ready${metrics === undefined ? '' : `, metrics at ${metrics}`}`);
  };
  await ready(wait.timeoutMs).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.code !== 'timeout') throw error;
    report(`${error.message} The API takes requests; runs wait for this worker, which is kept alive. ${error.next}`);
    // When the worker ends instead, its supervisor reports the end and restarts the worker.
    ready(longestTimerMs).catch(() => undefined);
  });
}

const readyLine = (line: LogLine): LogLine | undefined => (line.event === 'ready' ? line : undefined);
/** Node's timers take no more. */
const longestTimerMs = 2 ** 31 - 1;

/** The address for clients on this machine: 0.0.0.0 and [::] are no targets to connect to. */
function addressIn({ event, address }: LogLine): string | undefined {
  if (event !== 'listening' || address === undefined) return undefined;
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** HOLDPOINT_METRICS for each of several workers of a machine: each has the next port. The worker refuses an unreadable value. */
export function metricsPlace(
  environment: Readonly<Record<string, string>>,
  index: number,
): { HOLDPOINT_METRICS?: string } {
  const scraped = settingOf(environment);
  if (scraped === undefined || scraped.port === 0) return {};
  const { host, port } = scraped;
  return { HOLDPOINT_METRICS: `${host.includes(':') ? `[${host}]` : host}:${port + index}` };
}

function settingOf(environment: Readonly<Record<string, string>>) {
  try {
    return metricsSettingsFrom(environment).scraped;
  } catch {
    return undefined;
  }
}
