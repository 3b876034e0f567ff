import { askServer, findRedis, findRedisBinaries, type RedisLocation } from '@holdpoint/embedded-redis';
import * as redisParts from '@holdpoint/engine/redis';
import { type Config, commandLine } from '../shell/index.ts';
import { quiet } from '../system/index.ts';
import type { Finding } from './finding.ts';

const name = 'redis';
const answerMs = 3000;

/** @param isUp whether `up` runs on the data directory */
export async function checkRedis(config: Config, isUp: boolean): Promise<Finding[]> {
  const place = await findRedis(config);
  if (place.embedded && (await askServer(place.address, { timeoutMs: answerMs })) === 'absent') {
    return [isUp ? notAnswering(place, 'no server listens there') : await notStarted(config)];
  }
  return checkServer(place);
}

async function notStarted(config: Config): Promise<Finding> {
  const [binary] = await findRedisBinaries(config.path, config.projectDir);
  if (binary !== undefined) return { name, level: 'ok', text: `${binary} (started by \`up\`)` };
  const next = 'Run `npm run setup`, or set REDIS_URL to a Redis of your own.';
  return { name, level: 'fail', text: 'no Redis: REDIS_URL is not set, and no server is installed', next };
}

function notAnswering({ address, embedded }: RedisLocation, why: string): Finding {
  const next = embedded
    ? `\`up\` restarts it. If the fault stays, read redis/server.log in the data directory, then ${commandLine('down')} and start again.`
    : 'Start that server or correct REDIS_URL; unset it to use the embedded Redis.';
  return { name, level: 'fail', text: `no answer from ${redisParts.withoutPassword(address)}: ${why}`, next };
}

async function checkServer(place: RedisLocation): Promise<Finding[]> {
  const connections = redisParts.connect(place.address, quiet, { commandMs: answerMs });
  try {
    const { version, cluster, append, fsync, policy } = await redisParts.readServer(connections.state);
    const as = (of: string, judgement: redisParts.Judgement): Finding => ({ name: of, ...judgement });
    return [
      { name, level: 'ok', text: `${version} at ${redisParts.withoutPassword(place.address)}` },
      ...(cluster ? [as('redis cluster', redisParts.judgeTopology(cluster))] : []),
      await checkWrites(connections.state),
      as('redis durability', redisParts.judgeDurability(append, fsync)),
      as('redis memory', redisParts.judgeMemoryPolicy(policy)),
    ];
  } catch (error) {
    return [notAnswering(place, redisParts.redisTrouble(error)?.detail ?? String(error))];
  } finally {
    await connections.close();
  }
}

async function checkWrites(redis: Parameters<typeof redisParts.probeWrite>[0]): Promise<Finding> {
  const of = 'redis writes';
  try {
    await redisParts.probeWrite(redis, Date.now());
    return { name: of, level: 'ok', text: 'accepts writes' };
  } catch (error) {
    const trouble = redisParts.redisTrouble(error);
    if (trouble === undefined) return { name: of, level: 'fail', text: String(error) };
    return { name: of, level: 'fail', text: trouble.detail, next: trouble.next };
  }
}
