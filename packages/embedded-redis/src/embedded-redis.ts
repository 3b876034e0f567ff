import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { directoryId } from '@holdpoint/process/directory';
import { writeDurably } from '@holdpoint/process/durable-files';
import { z } from 'zod';
import { converse, type ServerState } from './ask-server.ts';
import { EmbeddedRedisError } from './error.ts';
import { launch, waitUntilReady } from './launch.ts';
import { findRedisPaths, prepareRedisPaths, type RedisPaths } from './redis-paths.ts';
import { withStartLock } from './start-lock.ts';

/** The last server to write the data. The file lies next to the data. */
const engineSchema = z.strictObject({
  engine: z.enum(['redis', 'valkey']),
  version: z.string().regex(/^\d+(\.\d+)+$/),
});
export type Engine = z.infer<typeof engineSchema>;

/**
 * Finds the first binary able to run and to read the data. A newer server reads the files of an older server, but not the reverse. Redis
 * and Valkey do not read each other's files since 7.2.
 */
export async function chooseEngine(
  binaries: readonly string[],
  engineFile: string,
): Promise<Engine & { binary: string }> {
  const written = await readEngine(engineFile);
  const seen: string[] = [];
  for (const binary of binaries) {
    const engine = await engineOf(binary);
    if (engine === undefined) continue;
    if (written === undefined || canRead(engine, written)) return { ...engine, binary };
    seen.push(`${engine.engine} ${engine.version} (${binary})`);
  }
  if (written === undefined || seen.length === 0) {
    throw new EmbeddedRedisError(
      'redis_not_found',
      `No Redis to start: ${binaries.length === 0 ? 'none is installed' : `none of ${binaries.join(', ')} runs`}.`,
      'Run `npm run setup`, or set REDIS_URL to a Redis of your own.',
    );
  }
  throw new EmbeddedRedisError(
    'redis_engine_changed',
    `${written.engine} ${written.version} wrote the data, and only ${seen.join(', ')} is installed.`,
    `Put ${written.engine} ${written.version} or newer on PATH, or choose an empty data directory.`,
  );
}

export function canRead(engine: Engine, written: Engine): boolean {
  if (engine.engine !== written.engine) return false;
  const [major = 0, minor = 0] = engine.version.split('.').map(Number);
  const [writtenMajor = 0, writtenMinor = 0] = written.version.split('.').map(Number);
  return major > writtenMajor || (major === writtenMajor && minor >= writtenMinor);
}

/** `Redis server v=7.0.15 sha=…`, `Valkey server v=8.1.1 sha=…`, and in Valkey 7.2 only `Server v=7.2.5 sha=…` */
export function parseVersionLine(line: string): Engine | undefined {
  const match = /^(.*?)server v=(\d+(?:\.\d+)+)/i.exec(line.trim());
  if (match === null) return undefined;
  return { engine: /^redis/i.test(match[1] ?? '') ? 'redis' : 'valkey', version: match[2] ?? '' };
}

export async function recordEngine(engineFile: string, { engine, version }: Engine): Promise<void> {
  await writeDurably(engineFile, `${JSON.stringify({ engine, version })}\n`);
}

async function engineOf(binary: string): Promise<Engine | undefined> {
  try {
    const { stdout } = await promisify(execFile)(binary, ['--version'], { env: {}, timeout: 10_000 });
    return parseVersionLine(stdout);
  } catch {
    return undefined;
  }
}

async function readEngine(engineFile: string): Promise<Engine | undefined> {
  let text: string;
  try {
    text = await readFile(engineFile, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  // After a power failure a file not yet on disk is empty or full of zero bytes. Then the engine is unknown.
  if (text.replaceAll('\0', '').trim() === '') return undefined;
  try {
    return engineSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new EmbeddedRedisError(
      'redis_engine_unknown',
      `${engineFile} does not say which server wrote the data.`,
      'Restore the file from a backup, or remove the file when the installed server wrote the data.',
      { cause },
    );
  }
}

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
