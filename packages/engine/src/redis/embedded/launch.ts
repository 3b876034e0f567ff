import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { askServer, type ServerState } from './ask-server.ts';
import { EmbeddedRedisError } from './error.ts';
import type { Place } from './place.ts';

const pollMs = 20;
const answerMs = 2_000;
/** How long a server may take to open its socket. It does so before it loads the data, so 15 s is plenty. */
const silenceMs = 15_000;
const largestLog = 1024 * 1024;

/** Starts a server that outlives this process, and waits until it takes writes. */
export async function launch(
  { place, binary }: { place: Place; binary: string },
  signal: AbortSignal | undefined,
): Promise<ServerState> {
  const log = await openLog(place.logFile);
  try {
    // A process group of its own: Ctrl-C in the terminal must not end it before the workers have drained.
    const child = spawn(binary, settings(place), {
      cwd: place.directory,
      detached: true,
      env: {},
      stdio: ['ignore', log.fd, log.fd],
    });
    child.unref();
    const ended = endOf(child);
    if (child.pid !== undefined) await writeFile(place.pidFile, `${child.pid}\n`, { mode: 0o600 });
    try {
      const server = await waitUntilReady(place, signal, () => ended() !== undefined);
      if (server === undefined) throw await didNotStart(place, ended() ?? 'no reason given');
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
 * Waits for a server that listens, or should soon.
 *
 * @param isGone whether nothing more can come of it; asked as long as nobody listens
 * @returns undefined when it is gone
 */
export async function waitUntilReady(
  place: Place,
  signal: AbortSignal | undefined,
  isGone: () => boolean | Promise<boolean>,
): Promise<ServerState | undefined> {
  let silentSince = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    const answer = await askServer(place.socket, { timeoutMs: answerMs });
    if (answer === 'absent' && (await isGone())) return undefined;
    if (typeof answer === 'object') {
      if (!answer.loading) return answer;
      silentSince = performance.now();
    }
    if (performance.now() - silentSince > silenceMs) throw silent(place);
    await wait(pollMs, undefined, { signal });
  }
}

function silent(place: Place): EmbeddedRedisError {
  return new EmbeddedRedisError(
    'redis_silent',
    `A Redis server uses ${place.directory} but does not answer on ${place.socket}.`,
    `End that process (its id is in ${place.pidFile}) and start again; what was acknowledged is on disk.`,
  );
}

/** No TCP port; every acknowledged write is on disk (`always`); full memory refuses writes instead of losing keys. */
function settings(place: Place): string[] {
  return [
    ['--port', '0'],
    ['--unixsocket', place.socket],
    ['--unixsocketperm', '700'],
    ['--dir', place.directory],
    ['--pidfile', place.pidFile],
    ['--daemonize', 'no'],
    ['--appendonly', 'yes'],
    ['--appendfsync', 'always'],
    ['--save', ''],
    ['--maxmemory-policy', 'noeviction'],
  ].flat();
}

/** Says why the process is gone, once it is. */
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

async function didNotStart(place: Place, reason: string): Promise<EmbeddedRedisError> {
  const log = await readFile(place.logFile, 'utf8').catch(() => '');
  const end = log.trimEnd().split('\n').slice(-8).join('\n');
  return new EmbeddedRedisError(
    'redis_did_not_start',
    `Redis ended while starting (${reason}). The end of its log:\n${end}`,
    `Read ${place.logFile}. A damaged append-only file can be repaired with redis-check-aof or valkey-check-aof.`,
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
