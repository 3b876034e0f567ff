import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { directoryId } from '@holdpoint/process/directory';
import { converse, type ServerState } from './ask-server.ts';
import { chooseEngine, recordEngine } from './choose-engine.ts';
import { EmbeddedRedisError } from './error.ts';
import { launch, waitUntilReady } from './launch.ts';
import { findRedisPaths, prepareRedisPaths, type RedisPaths } from './redis-paths.ts';
import { withStartLock } from './start-lock.ts';

export interface EmbeddedRedis {
  /** The unix socket: for `new Redis(path)`, BullMQ's `connection: { path }`, and as a value of REDIS_URL. */
  path: string;
  pid: number;
  engine: 'redis' | 'valkey';
  version: string;
  /** The server ran already: another process had started the server, or the starting process was killed. */
  reused: boolean;
  /** Stops the server, even when another process started the server. */
  stop(): Promise<void>;
}

export interface EmbeddedRedisOptions {
  /** Created with mode 0700. A data directory has a single server. */
  dataDir: string;
  /** Absolute paths of servers, the preferred first; see `findRedisBinaries`. */
  binaries: readonly string[];
  signal?: AbortSignal;
  logger?: { info(fields: object, message: string): void };
}

/**
 * Starts a Redis or Valkey on a data directory, or finds the running server: a private unix socket, no TCP port, every acknowledged write
 * on disk. The server survives this process and Ctrl-C.
 *
 * @throws {EmbeddedRedisError} with `code` and `next`
 * @example
 * const redis = await startEmbeddedRedis({ dataDir: '.holdpoint', binaries: await findRedisBinaries(path, '.') });
 * const client = new Redis(redis.path);
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { dataDir, binaries, signal, logger } = options;
  signal?.throwIfAborted();
  const paths = await prepareRedisPaths(dataDir);
  const { server, reused } = await withStartLock({ lock: paths.lock, signal }, async () => {
    const running = await findRunning(paths, signal);
    const server = running ?? (await startNew(paths, binaries, signal));
    await recordEngine(paths.engineFile, server);
    return { server, reused: running !== undefined };
  });
  const { pid, engine, version } = server;
  logger?.info(
    { pid, engine, version, reused, socket: paths.socket },
    reused ? 'Redis found running' : 'Redis started',
  );
  return { path: paths.socket, pid, engine, version, reused, stop: () => stopAt(paths).then(() => undefined) };
}

/**
 * Stops the server of a data directory after its last write is on disk.
 *
 * @returns whether a server was running
 */
export async function stopEmbeddedRedis({ dataDir }: { dataDir: string }): Promise<boolean> {
  try {
    return await stopAt(await findRedisPaths(dataDir));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

async function startNew(
  paths: RedisPaths,
  binaries: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ServerState> {
  const { binary } = await chooseEngine(binaries, paths.engineFile);
  return launch({ paths, binary }, signal);
}

/**
 * A server without a socket is about to open its socket or is dying: its command line stays readable for a moment after its connections
 * close. So this asks until the server is ready or gone.
 */
function findRunning(paths: RedisPaths, signal: AbortSignal | undefined): Promise<ServerState | undefined> {
  return waitUntilReady(paths, signal, async () => !(await recordedServerLives(paths)));
}

/** Redis closes the connection of a SHUTDOWN when its process ends. NOSAVE is about snapshots; the append-only file is complete anyway. */
async function stopAt(paths: RedisPaths): Promise<boolean> {
  const reply = await converse(paths.socket, 'SHUTDOWN NOSAVE', {
    timeoutMs: stopMs,
    until: (text) => text.startsWith('-') && text.endsWith('\r\n'),
  });
  if (reply.end === 'absent') return false;
  if (reply.end === 'closed') return true;
  throw new EmbeddedRedisError(
    'redis_did_not_stop',
    `Redis did not shut down${reply.text === '' ? ` within ${stopMs / 1000} s` : `: ${reply.text.trim()}`}.`,
    `Read ${paths.logFile}, then end the process whose id is in ${paths.pidFile}.`,
  );
}

const stopMs = 30_000;

/**
 * Whether the last server of this data still runs. For a silent socket: the server has not opened the socket yet, or the file was deleted.
 * The pid file of a copied directory names the server of the original, so the function asks the kernel for the working directory of this
 * server.
 */
async function recordedServerLives({ pidFile, socket, directory }: RedisPaths): Promise<boolean> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (process.platform !== 'linux') return (await commandLineByPs(pid)).includes(socket);
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const worksIn = directoryId(`/proc/${pid}/cwd`);
  if (worksIn !== undefined) return line.includes('unixsocket') && worksIn === directoryId(directory);
  // An argument at first, later a part of the process title set by the server. A longer path must not match.
  return line.includes(`\0${socket}`) || line.includes(`unixsocket:${socket}`);
}

const commandLineByPs = (pid: number): Promise<string> =>
  promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => '',
  );
