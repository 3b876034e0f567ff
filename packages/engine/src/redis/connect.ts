import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Logger } from '../ports/index.ts';
import { judgeDurability, judgeMemoryPolicy, judgeTopology, readServer, type ServerFacts } from './judge-server.ts';
import { redisTrouble } from './trouble.ts';

/**
 * Sends all commands of an iteration of the event loop in one write. The server reads them at once, so with `appendfsync always` a
 * single fsync covers them all. ioredis alone makes one system call per command; its auto-pipelining has the same effect for 1.7 times the
 * CPU per job.
 */
export class OneWriteRedis extends Redis {
  #isHolding = false;

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    if (!this.#isHolding && this.status === 'ready') this.#hold();
    return super.sendCommand(...args);
  }

  #hold(): void {
    const { stream } = this;
    this.#isHolding = true;
    stream.cork();
    setImmediate(() => {
      this.#isHolding = false;
      stream.uncork();
    });
  }
}

/** `redis://…`, `rediss://…`, or the absolute path of a unix socket. */
export type RedisAddress = string;

export interface Connections {
  /** For state and producers: a command fails fast while Redis is away, and is never sent a second time. */
  state: Redis;
  /** For pub/sub: reconnects for ever and subscribes again. */
  subscriber: Redis;
  /** For BullMQ workers: waits for Redis without a limit. */
  worker(): Redis;
  close(): Promise<void>;
}

/**
 * Opens connections to a Redis. A lost connection is logged and comes back; no connection throws.
 * @param options.commandMs how long `state` waits for an answer. A command that fails after this time may have been executed
 */
export function connect(
  address: RedisAddress,
  logger: Logger,
  { commandMs = 5000 }: { commandMs?: number } = {},
): Connections {
  const opened: Redis[] = [];
  const open = (role: string, options: object): Redis => {
    const redis = openConnection({ address, logger, role }, options);
    opened.push(redis);
    return redis;
  };
  return {
    state: open('state', failsFast(commandMs)),
    subscriber: open('subscriber', { maxRetriesPerRequest: null }),
    worker: () => open('worker', { maxRetriesPerRequest: null }),
    async close() {
      for (const redis of opened) redis.disconnect();
    },
  };
}

/** The connection of a thread for reading and keeping cursors. A command fails as on `state`. */
export const connectThread = (address: RedisAddress, logger: Logger): Redis =>
  openConnection({ address, logger, role: 'thread' }, failsFast(5000));

function openConnection(
  { address, logger, role }: { address: RedisAddress; logger: Logger; role: string },
  options: object,
): Redis {
  const redis = new OneWriteRedis(address, {
    connectionName: `holdpoint:${role}`,
    retryStrategy: backoff,
    ...options,
  });
  let reported = '';
  redis.on('error', (error: Error) => {
    if (error.message === reported) return;
    reported = error.message;
    logger.warn({ role, err: error }, 'redis connection lost');
  });
  redis.on('ready', () => {
    if (reported !== '') logger.info({ role }, 'redis connection is back');
    reported = '';
  });
  return redis;
}

/**
 * A script that may have run must not be sent again: the caller reads the state instead. No retry, because ioredis 6.0 never settles a
 * pending command at a lost connection when ioredis neither sends the command again nor is out of retries.
 * A server that hangs (a frozen process, a stalled disk) keeps its connections: only the time limit of a command detects the hang.
 */
const failsFast = (commandMs: number) => ({
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 5000,
  commandTimeout: commandMs,
});

/** Counts the connections of other Holdpoint programs to this Redis. */
export async function countOtherConnections({ state, subscriber }: Connections): Promise<number> {
  const own = await Promise.all([state.client('ID'), subscriber.client('ID')]);
  const lines = String(await state.client('LIST')).split('\n');
  const isOther = (line: string): boolean =>
    / name=holdpoint:/.test(line) && !own.includes(Number(/^id=(\d+) /.exec(line)?.[1]));
  return lines.filter(isOther).length;
}

const backoff = (times: number): number => Math.min(50 * 2 ** Math.min(times, 5), 1000);

/** A Redis address for people: `redis://user:***@host:6379`. The path of a socket stays unchanged. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password !== '') url.password = '***';
  if (url.searchParams.has('password')) url.searchParams.set('password', '***');
  return url.href;
}

const retryMs = 250;

/** Holdpoint cannot use this server. `next` names the setting to change or the server to start. */
export class RedisStartError extends Error {
  override readonly name = 'RedisStartError';
  readonly code: 'redis_unreachable' | 'redis_unsuitable';
  readonly next: string;

  constructor(code: RedisStartError['code'], message: string, next: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}

export interface OpenRedisInput {
  address: RedisAddress;
  /** How long a command on the state may take. */
  commandMs?: number;
  /** The time to wait for a server without an answer. @default 15 s */
  patienceMs?: number;
}

/**
 * Connects to the Redis of a program, and refuses a server that would lose runs.
 * @throws RedisStartError
 */
export async function openRedis(
  { address, commandMs, patienceMs = 15_000 }: OpenRedisInput,
  logger: Logger,
): Promise<Connections> {
  const connections = connect(address, logger, { commandMs });
  try {
    refuseUnsuitable(await firstAnswer(connections, address, patienceMs), address, logger);
    return connections;
  } catch (error) {
    await connections.close();
    throw error;
  }
}

async function firstAnswer({ state }: Connections, address: RedisAddress, patienceMs: number): Promise<ServerFacts> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await readServer(state);
    } catch (cause) {
      if (performance.now() < deadline && mayPass(cause)) {
        await wait(retryMs);
        continue;
      }
      const trouble = redisTrouble(cause);
      const at = withoutPassword(address);
      throw new RedisStartError(
        'redis_unreachable',
        trouble?.code === 'unavailable'
          ? `Redis does not answer at ${at}.`
          : `Redis at ${at} cannot be used: ${trouble?.detail ?? String(cause)}.`,
        trouble?.code === 'redis_denied'
          ? trouble.next
          : 'Start that server or correct REDIS_URL; unset it to use the embedded Redis.',
        { cause },
      );
    }
  }
}

function mayPass(error: unknown): boolean {
  const code = redisTrouble(error)?.code;
  return code === 'unavailable' || code === 'redis_timeout' || code === 'redis_loading';
}

/** @throws RedisStartError naming the setting to change */
function refuseUnsuitable(facts: ServerFacts, address: RedisAddress, logger: Logger): void {
  const { cluster, append, fsync, policy } = facts;
  for (const { level, text, next } of [
    judgeTopology(cluster),
    judgeDurability(append, fsync),
    judgeMemoryPolicy(policy),
  ]) {
    if (level === 'fail') {
      const message = `Redis at ${withoutPassword(address)} cannot be used: ${text}.`;
      throw new RedisStartError('redis_unsuitable', message, next ?? '');
    }
    if (level === 'warn') logger.warn({ redis: withoutPassword(address), next }, text);
  }
}
