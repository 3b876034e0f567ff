import { connect } from '@holdpoint/engine/redis/connect';
import { findRedisBinaries } from '@holdpoint/engine/redis/find-redis-binaries';
import type { Config } from '../config.ts';
import { withoutPassword } from '../output/without-password.ts';
import { quiet } from '../system/quiet.ts';
import type { Finding } from './finding.ts';

/** @param socket of the embedded Redis, when it runs */
export async function checkRedis(config: Config, socket: string | undefined): Promise<Finding[]> {
  const address = config.redisUrl ?? socket;
  if (address !== undefined) return checkServer(address);
  const [binary] = await findRedisBinaries(config.path, config.projectDir);
  if (binary !== undefined) return [{ name: 'redis', level: 'ok', text: `${binary} (started by \`up\`)` }];
  const next = 'Run `npm run setup`, or set REDIS_URL to a Redis of your own.';
  return [{ name: 'redis', level: 'fail', text: 'no Redis: REDIS_URL is not set, and no server is installed', next }];
}

async function checkServer(address: string): Promise<Finding[]> {
  const connections = connect(address, quiet);
  const redis = connections.state;
  const shown = withoutPassword(address);
  try {
    const info = await redis.info('server');
    const version = /^(?:valkey|redis)_version:(.*?)\r?$/m.exec(info)?.[1] ?? 'of unknown version';
    const setting = async (name: string): Promise<string | undefined> => {
      const reply = await redis.config('GET', name).catch(() => undefined);
      return Array.isArray(reply) ? String(reply[1] ?? '') : undefined;
    };
    const [append, fsync, policy] = await Promise.all(['appendonly', 'appendfsync', 'maxmemory-policy'].map(setting));
    return [
      { name: 'redis', level: 'ok', text: `${version} at ${shown}` },
      judgeDurability(append, fsync),
      judgeMemoryPolicy(policy),
    ];
  } catch {
    const next = 'Start that server or correct REDIS_URL; unset it to use the embedded Redis.';
    return [{ name: 'redis', level: 'fail', text: `no answer from ${shown}`, next }];
  } finally {
    await connections.close();
  }
}

export function judgeDurability(append: string | undefined, fsync: string | undefined): Finding {
  const name = 'redis durability';
  if (append === undefined || fsync === undefined) {
    const next = 'Make sure that appendonly is on; with appendfsync always nothing acknowledged is lost.';
    return { name, level: 'warn', text: 'it does not tell its settings', next };
  }
  if (append !== 'yes') {
    const next = 'CONFIG SET appendonly yes, and in its configuration file.';
    return { name, level: 'fail', text: 'appendonly is off: a restart of Redis loses runs', next };
  }
  if (fsync === 'always') return { name, level: 'ok', text: 'appendonly, appendfsync always' };
  const next = 'CONFIG SET appendfsync always, unless you accept that.';
  return {
    name,
    level: 'warn',
    text: `appendfsync ${fsync}: a power failure may lose what was acknowledged last`,
    next,
  };
}

export function judgeMemoryPolicy(policy: string | undefined): Finding {
  const name = 'redis memory';
  if (policy === 'noeviction') return { name, level: 'ok', text: 'maxmemory-policy noeviction' };
  const next = 'CONFIG SET maxmemory-policy noeviction, and in its configuration file.';
  if (policy === undefined) return { name, level: 'warn', text: 'it does not tell its maxmemory-policy', next };
  return { name, level: 'fail', text: `maxmemory-policy ${policy}: full memory would delete runs`, next };
}
