import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { askServer, type ServerState } from './ask-server.ts';
import { EmbeddedRedisError } from './error.ts';
import type { RedisPaths } from './redis-paths.ts';

const pollMs = 20;
const answerMs = 2_000;
/** How long a server may be silent. The server opens its socket before loading the data, so 15 s is plenty. */
const silenceMs = 15_000;
const largestLog = 1024 * 1024;

/** Starts a server with a longer life than this process, and waits until the server accepts writes. */
export async function launch(
  { paths, binary }: { paths: RedisPaths; binary: string },
  signal: AbortSignal | undefined,
): Promise<ServerState> {
  const log = await openLog(paths.logFile);
  try {
    // A process group of its own: Ctrl-C in the terminal must not stop Redis before the workers drain.
    const child = spawn(binary, settings(paths), {
      cwd: paths.directory,
      detached: true,
      env: {},
      stdio: ['ignore', log.fd, log.fd],
    });
    child.unref();
    const ended = endOf(child);
    if (child.pid !== undefined) await writeFile(paths.pidFile, `${child.pid}\n`, { mode: 0o600 });
    try {
      const server = await waitUntilReady(paths, signal, () => ended() !== undefined);
      if (server === undefined) throw await didNotStart(paths, ended() ?? 'no reason given');
      return server;
    } catch (error) {
      child.kill('SIGTERM');
      throw error;
    }
  } finally {
    await log.close();
  }
}

/**
 * Waits until a server accepts writes.
 *
 * @param isGone whether the server's process has ended; called while no process listens
 * @returns undefined when the server is gone
 */
export async function waitUntilReady(
  paths: RedisPaths,
  signal: AbortSignal | undefined,
  isGone: () => boolean | Promise<boolean>,
): Promise<ServerState | undefined> {
  let silentSince = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    const answer = await askServer(paths.socket, { timeoutMs: answerMs });
    if (answer === 'absent' && (await isGone())) return undefined;
    if (typeof answer === 'object') {
      if (!answer.loading) return answer;
      silentSince = performance.now();
    }
    if (performance.now() - silentSince > silenceMs) throw doesNotAnswer(paths);
    await wait(pollMs, undefined, { signal });
  }
}

function doesNotAnswer(paths: RedisPaths): EmbeddedRedisError {
  return new EmbeddedRedisError(
    'redis_silent',
    `A Redis server uses ${paths.directory} but does not answer on ${paths.socket}.`,
    `End that process (its id is in ${paths.pidFile}) and start again; every acknowledged write is on disk.`,
  );
}

/** `always`: every acknowledged write is on disk. `noeviction`: full memory refuses writes instead of deleting keys. */
function settings(paths: RedisPaths): string[] {
  return [
    ['--port', '0'],
    ['--unixsocket', paths.socket],
    ['--unixsocketperm', '700'],
    ['--dir', paths.directory],
    ['--pidfile', paths.pidFile],
    ['--daemonize', 'no'],
    ['--appendonly', 'yes'],
    ['--appendfsync', 'always'],
    ['--save', ''],
    ['--maxmemory-policy', 'noeviction'],
  ].flat();
}

/** The returned function says why the process ended; undefined while the process runs. */
function endOf(child: ChildProcess): () => string | undefined {
  let reason: string | undefined;
  child.once('error', (error) => {
    reason = error.message;
  });
  child.once('exit', (code, signal) => {
    reason = signal ?? `exit ${code}`;
  });
  return () => reason;
}

async function didNotStart(paths: RedisPaths, reason: string): Promise<EmbeddedRedisError> {
  const log = await readFile(paths.logFile, 'utf8').catch(() => '');
  const end = log.trimEnd().split('\n').slice(-8).join('\n');
  return new EmbeddedRedisError(
    'redis_did_not_start',
    `Redis ended while starting (${reason}). The end of its log:\n${end}`,
    `Read ${paths.logFile}. A damaged append-only file can be repaired with redis-check-aof or valkey-check-aof.`,
  );
}

async function openLog(logFile: string) {
  const size = await stat(logFile).then(
    ({ size }) => size,
    () => 0,
  );
  if (size > largestLog) await rm(logFile);
  return await open(logFile, 'a', 0o600);
}
