import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../ports/index.ts';
import { type Connections, connect, type RedisAddress, withoutPassword } from './connect.ts';
import { judgeDurability, judgeMemoryPolicy, judgeTopology, readServer, type ServerFacts } from './judge-server.ts';
import { redisTrouble } from './trouble.ts';

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
