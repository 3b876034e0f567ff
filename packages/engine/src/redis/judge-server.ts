import type { Redis } from 'ioredis';

/** The facts a server reports about itself. A setting is undefined when the server does not report the setting. */
export interface ServerFacts {
  version: string;
  cluster: boolean;
  append: string | undefined;
  fsync: string | undefined;
  policy: string | undefined;
}

export interface Judgement {
  level: 'ok' | 'warn' | 'fail';
  text: string;
  next?: string;
}

/** Every user may send INFO. The settings of the append-only file need CONFIG, forbidden by many services. */
export async function readServer(redis: Redis): Promise<ServerFacts> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const setting = async (name: string): Promise<string | undefined> => {
    const reply: unknown = await redis.config('GET', name).catch(() => undefined);
    return Array.isArray(reply) && reply.length > 1 ? String(reply[1]) : undefined;
  };
  return {
    version: field('valkey_version') ?? field('redis_version') ?? 'of unknown version',
    cluster: field('cluster_enabled') === '1',
    append: await setting('appendonly'),
    fsync: await setting('appendfsync'),
    policy: field('maxmemory_policy') ?? (await setting('maxmemory-policy')),
  };
}

/** Written to check whether Redis accepts writes. */
const writeProbeKey = 'hp:health:write';

/** A server that answers PING may still refuse every write. @throws the error of the server or of the connection */
export async function probeWrite(redis: Pick<Redis, 'set'>, now: number): Promise<void> {
  await redis.set(writeProbeKey, String(now), 'EX', 60);
}

export function judgeTopology(cluster: boolean): Judgement {
  if (!cluster) return { level: 'ok', text: 'no Redis Cluster' };
  const next = 'Set REDIS_URL to a server that is not in cluster mode, or unset it to use the embedded server.';
  return { level: 'fail', text: 'it is a Redis Cluster, which Holdpoint does not support', next };
}

export function judgeDurability(append: string | undefined, fsync: string | undefined): Judgement {
  if (append === undefined || fsync === undefined) {
    const next = 'Make sure that appendonly is on. With appendfsync always no acknowledged write is lost.';
    return { level: 'warn', text: 'appendonly could not be checked: CONFIG is not permitted', next };
  }
  if (append !== 'yes') {
    const next = 'CONFIG SET appendonly yes, and the same in its configuration file.';
    return { level: 'fail', text: 'appendonly is off: a restart of Redis loses runs', next };
  }
  if (fsync === 'always') return { level: 'ok', text: 'appendonly, appendfsync always' };
  const next = 'CONFIG SET appendfsync always, unless you accept this.';
  return { level: 'warn', text: `appendfsync ${fsync}: a power failure may lose the last acknowledged writes`, next };
}

export function judgeMemoryPolicy(policy: string | undefined): Judgement {
  if (policy === 'noeviction') return { level: 'ok', text: 'maxmemory-policy noeviction' };
  const next = 'CONFIG SET maxmemory-policy noeviction, and the same in its configuration file.';
  if (policy === undefined) return { level: 'warn', text: 'maxmemory-policy could not be checked', next };
  return { level: 'fail', text: `maxmemory-policy ${policy}: full memory would delete runs`, next };
}
