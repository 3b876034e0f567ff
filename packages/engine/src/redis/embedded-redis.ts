import type { BaseLogger } from 'pino';
import { converse, type ServerState } from './embedded/ask-server.ts';
import { chooseEngine, recordEngine } from './embedded/choose-engine.ts';
import { EmbeddedRedisError } from './embedded/error.ts';
import { launch, waitUntilReady } from './embedded/launch.ts';
import { findPlace, openPlace, type Place } from './embedded/place.ts';
import { recordedServerLives } from './embedded/recorded-server.ts';
import { withStartLock } from './embedded/start-lock.ts';

export interface EmbeddedRedis {
  /** The unix socket: for `new Redis(path)`, BullMQ's `connection: { path }`, and as a value of REDIS_URL. */
  path: string;
  pid: number;
  engine: 'redis' | 'valkey';
  version: string;
  /** The server ran already, started by another process or left over from one that was killed. */
  reused: boolean;
  /** Ends the server, whoever started it. */
  stop(): Promise<void>;
}

export interface EmbeddedRedisOptions {
  /** Created with mode 0700. One server per data directory. */
  dataDir: string;
  /** Absolute paths of servers, the preferred first; see `findRedisBinaries`. */
  binaries: readonly string[];
  signal?: AbortSignal;
  logger?: Pick<BaseLogger, 'info'>;
}

/**
 * A Redis (or Valkey) of our own on a data directory: a private unix socket, no TCP port, every acknowledged write on
 * disk. It runs on its own, survives this process and Ctrl-C, and is found again by the next start.
 *
 * @throws {EmbeddedRedisError} with `code` and `next`
 * @example
 * const redis = await startEmbeddedRedis({ dataDir: '.holdpoint', binaries: await findRedisBinaries(path, '.') });
 * const client = new Redis(redis.path);
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { dataDir, binaries, signal, logger } = options;
  signal?.throwIfAborted();
  const place = await openPlace(dataDir);
  const { server, reused } = await withStartLock({ lock: place.lock, signal }, async () => {
    const running = await findRunning(place, signal);
    const server = running ?? (await startNew(place, binaries, signal));
    await recordEngine(place.engineFile, server);
    return { server, reused: running !== undefined };
  });
  const { pid, engine, version } = server;
  logger?.info(
    { pid, engine, version, reused, socket: place.socket },
    reused ? 'Redis found running' : 'Redis started',
  );
  return { path: place.socket, pid, engine, version, reused, stop: () => stopAt(place).then(() => undefined) };
}

/**
 * Ends the server of a data directory after its last write is on disk.
 *
 * @returns whether one was running
 */
export async function stopEmbeddedRedis({ dataDir }: { dataDir: string }): Promise<boolean> {
  try {
    return await stopAt(await findPlace(dataDir));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

async function startNew(
  place: Place,
  binaries: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ServerState> {
  const { binary } = await chooseEngine(binaries, place.engineFile);
  return launch({ place, binary }, signal);
}

/**
 * A server without a socket may be one that is about to open it, or one that is just dying: its command line can still
 * be read for a moment after its connections are closed. So this is asked until it is one or the other.
 */
function findRunning(place: Place, signal: AbortSignal | undefined): Promise<ServerState | undefined> {
  return waitUntilReady(place, signal, async () => !(await recordedServerLives(place)));
}

/** The connection of a SHUTDOWN closes when the process is gone; NOSAVE concerns snapshots, not the append-only file. */
async function stopAt(place: Place): Promise<boolean> {
  const reply = await converse(place.socket, 'SHUTDOWN NOSAVE', {
    timeoutMs: stopMs,
    until: (text) => text.startsWith('-') && text.endsWith('\r\n'),
  });
  if (reply.end === 'absent') return false;
  if (reply.end === 'closed') return true;
  throw new EmbeddedRedisError(
    'redis_did_not_stop',
    `Redis did not shut down${reply.text === '' ? ` within ${stopMs / 1000} s` : `: ${reply.text.trim()}`}.`,
    `Read ${place.logFile}, then end the process whose id is in ${place.pidFile}.`,
  );
}

const stopMs = 30_000;
