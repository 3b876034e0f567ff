import { Redis } from 'ioredis';
import type { Logger } from '../ports.ts';

/** `redis://…`, `rediss://…`, or the absolute path of a unix socket. */
export type RedisAddress = string;

export interface Connections {
  /** For state and producers: a command fails fast while Redis is away, and is never sent twice by itself. */
  state: Redis;
  /** For pub/sub: reconnects for ever and subscribes again. */
  subscriber: Redis;
  /** For BullMQ workers: waits for Redis as long as it takes. */
  worker(): Redis;
  close(): Promise<void>;
}

/**
 * Opens connections to one Redis. None of them throws on a lost connection: they log it and come back.
 * @param options.commandMs after which a command of `state` fails that got no answer. It may have been done
 */
export function connect(
  address: RedisAddress,
  logger: Logger,
  { commandMs = 5000 }: { commandMs?: number } = {},
): Connections {
  const opened: Redis[] = [];
  const open = (role: string, options: object): Redis => {
    const redis = new Redis(address, { connectionName: `holdpoint:${role}`, retryStrategy: backoff, ...options });
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
    opened.push(redis);
    return redis;
  };
  return {
    // A script that may have run must not be sent again unseen: the caller looks at the state instead. Without a retry, because ioredis
    // 6.0 drops what was under way at a lost connection when it neither sends it again nor is out of retries: it never settles.
    // A server that hangs (a frozen process, a stalled disk) keeps its connections: only the time limit of a command notices.
    state: open('state', {
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: 5000,
      commandTimeout: commandMs,
    }),
    subscriber: open('subscriber', { maxRetriesPerRequest: null }),
    worker: () => open('worker', { maxRetriesPerRequest: null }),
    async close() {
      for (const redis of opened) redis.disconnect();
    },
  };
}

/** How many connections Holdpoint programs have to this Redis, without these ones. */
export async function countOtherConnections({ state, subscriber }: Connections): Promise<number> {
  const own = await Promise.all([state.client('ID'), subscriber.client('ID')]);
  const lines = String(await state.client('LIST')).split('\n');
  const isOther = (line: string): boolean =>
    / name=holdpoint:/.test(line) && !own.includes(Number(/^id=(\d+) /.exec(line)?.[1]));
  return lines.filter(isOther).length;
}

const backoff = (times: number): number => Math.min(50 * 2 ** Math.min(times, 5), 1000);
