import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../ports.ts';
import { type Connections, connect } from './connect.ts';
import { askServer } from './embedded/ask-server.ts';
import { findRedis, type RedisPlace } from './find-redis.ts';
import { judgeDurability, judgeMemoryPolicy, judgeTopology, readServer, type ServerFacts } from './judge-server.ts';
import { redisTrouble } from './trouble.ts';
import { withoutPassword } from './without-password.ts';

const retryMs = 250;
const answerMs = 2000;

/** A server that cannot be worked with. `next` says what to set or to start. */
export class RedisStartError extends Error {
  override readonly name = 'RedisStartError';
  readonly code: 'redis_unreachable' | 'redis_not_running' | 'redis_unsuitable';
  readonly next: string;

  constructor(code: RedisStartError['code'], message: string, next: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}

export interface OpenRedisInput {
  /** REDIS_URL; undefined: the embedded server of the data directory. */
  redisUrl: string | undefined;
  dataDir: string;
  /** How long a command may take that changes or reads state. */
  commandMs?: number;
  /** How long to wait for a server that does not answer yet. @default 15 s */
  patienceMs?: number;
}

/**
 * Connects to the Redis of a program, and refuses one that would lose runs.
 * @throws RedisStartError
 */
export async function openRedis(
  { redisUrl, dataDir, commandMs, patienceMs = 15_000 }: OpenRedisInput,
  logger: Logger,
): Promise<Connections> {
  const place = await findRedis({ redisUrl, dataDir });
  if (place.embedded) await mustRun(place, dataDir);
  const connections = connect(place.address, logger, commandMs === undefined ? {} : { commandMs });
  try {
    refuseUnsuitable(await firstAnswer(connections, place, patienceMs), place, logger);
    return connections;
  } catch (error) {
    await connections.close();
    throw error;
  }
}

async function mustRun({ address }: RedisPlace, dataDir: string): Promise<void> {
  if ((await askServer(address, { timeoutMs: answerMs })) !== 'absent') return;
  throw new RedisStartError(
    'redis_not_running',
    `REDIS_URL is not set, and the embedded Redis of ${dataDir} does not run.`,
    'Start the system on that data directory (`npm start`), set HOLDPOINT_DATA to the one that runs, or set REDIS_URL.',
  );
}

async function firstAnswer({ state }: Connections, place: RedisPlace, patienceMs: number): Promise<ServerFacts> {
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
      const at = withoutPassword(place.address);
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

/** @throws RedisStartError naming what to set */
export function refuseUnsuitable(facts: ServerFacts, { address }: Pick<RedisPlace, 'address'>, logger: Logger): void {
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
