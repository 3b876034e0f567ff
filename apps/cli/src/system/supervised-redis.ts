import { setTimeout as wait } from 'node:timers/promises';
import type { EmbeddedRedis } from '@holdpoint/embedded-redis';
import { identify, isAlive, type ProcessIdentity } from './processes.ts';
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
