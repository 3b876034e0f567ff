import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type EmbeddedRedis, findRedisBinaries, startEmbeddedRedis } from '@holdpoint/embedded-redis';
import { bindInstallation } from '@holdpoint/engine/installation';
import { connect, openRedis as connectToRedis, withoutPassword } from '@holdpoint/engine/redis';
import type { Config } from '../shell/index.ts';
import { identify, isAlive, type ProcessIdentity } from './processes.ts';
import { quiet } from './quiet.ts';
import { Backoff } from './supervised.ts';

const pollMs = 250;

interface Input {
  /** Starts the server, or finds the running server. */
  start(signal: AbortSignal): Promise<EmbeddedRedis>;
  report(text: string): void;
  logFile: string;
}

/**
 * Keeps the embedded Redis alive. The server may be the child of an earlier `up`, so its process is polled. A lost server is restarted on the same
 * data and socket, and the API and the workers reconnect.
 *
 * @returns a function to stop the supervision, not the server
 */
export function superviseRedis(first: Pick<EmbeddedRedis, 'pid'>, input: Input): () => Promise<void> {
  const ending = new AbortController();
  const kept = keepAlive(first.pid, input, ending.signal).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  return async () => {
    ending.abort();
    await kept;
  };
}

async function keepAlive(firstPid: number, { start, report, logFile }: Input, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff();
  let pid: number | undefined = firstPid;
  let problem = 'the server ended';
  for (;;) {
    const since = performance.now();
    if (pid !== undefined) await gone(pid, signal);
    const { times, pauseMs } = backoff.ended(performance.now() - since);
    const often = times === 1 ? '' : ` (${times} times in a row; read ${logFile})`;
    report(`redis: ${problem}${often}; restart in ${pauseMs / 1000} s`);
    await wait(pauseMs, undefined, { signal });
    try {
      const server = await start(signal);
      pid = server.pid;
      problem = 'the server ended';
      report(`redis     restarted (process ${pid}); nothing acknowledged is lost`);
    } catch (error) {
      signal.throwIfAborted();
      pid = undefined;
      problem = `the server could not be started: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}

async function gone(pid: number, signal: AbortSignal): Promise<void> {
  const identity: ProcessIdentity | undefined = identify(pid);
  while (identity !== undefined && isAlive(identity)) await wait(pollMs, undefined, { signal });
}

export interface OpenedRedis {
  /** A URL, or the absolute path of a socket. */
  address: string;
  /** The socket of the embedded server; null for any other server. */
  socket: string | null;
  /** A short description without a password. */
  label: string;
  /** The log of the embedded server; null for any other. */
  logFile: string | null;
  /** Stops the embedded server; any other server is left running. */
  stop(): Promise<void>;
}

/**
 * Connects to the user's own Redis, or starts the embedded Redis of the data directory and keeps the server alive.
 *
 * @throws RedisStartError; EmbeddedRedisError
 */
export async function openRedis(
  config: Config,
  { signal, report }: { signal: AbortSignal; report: (text: string) => void },
): Promise<OpenedRedis> {
  if (config.redisUrl !== undefined) return openGiven(config.redisUrl, report);
  const { dataDir } = config;
  const start = async (ending: AbortSignal) =>
    startEmbeddedRedis({ dataDir, binaries: await findRedisBinaries(config.path, config.projectDir), signal: ending });
  const redis = await start(signal);
  const logFile = join(dataDir, 'redis', 'server.log');
  const endSupervision = superviseRedis(redis, { start, report, logFile });
  return {
    address: redis.path,
    socket: redis.path,
    label: `embedded ${redis.engine} ${redis.version}${redis.reused ? ', found running' : ''}`,
    logFile,
    async stop() {
      await endSupervision();
      await redis.stop();
    },
  };
}

async function openGiven(redisUrl: string, report: (text: string) => void): Promise<OpenedRedis> {
  const warn = (fields: object, message: string): void => {
    if (!('err' in fields)) report(`redis: ${message}`);
  };
  const connections = await connectToRedis({ address: redisUrl, patienceMs: 2000 }, { ...quiet, warn });
  await connections.close();
  const label = withoutPassword(redisUrl);
  return { address: redisUrl, socket: null, label, logFile: null, stop: async () => undefined };
}

/**
 * Refuses a Redis of another data directory. Checked here because each part would refuse such a Redis at every restart.
 *
 * @throws InstallationError
 */
export async function checkInstallation(redisAddress: string, dataDir: string): Promise<void> {
  const connections = connect(redisAddress, quiet);
  try {
    await bindInstallation({ redis: connections.state, dataDir });
  } finally {
    await connections.close();
  }
}
