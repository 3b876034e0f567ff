import type { Redis } from 'ioredis';

/** The resources used by a server, from INFO. A field is undefined when the server does not report the field. */
export interface RedisUsage {
  /** Bytes. */
  memory: number | undefined;
  /** maxmemory in bytes; undefined: none. */
  memoryLimit: number | undefined;
  /** Bytes of the data alone. */
  dataset: number | undefined;
  aof: {
    enabled: boolean;
    /** Whether the last write, and the last rewrite, succeeded. */
    writeOk: boolean;
    rewriteOk: boolean;
    /** Bytes. */
    size: number | undefined;
    /** Writes delayed by a slow disk, since the start of the server. */
    delayed: number | undefined;
  };
}

export async function readUsage(redis: Redis): Promise<RedisUsage> {
  const info = await redis.info();
  const text = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const number = (name: string) => (text(name) === undefined ? undefined : Number(text(name)));
  const limit = number('maxmemory');
  return {
    memory: number('used_memory'),
    memoryLimit: limit === 0 ? undefined : limit,
    dataset: number('used_memory_dataset'),
    aof: {
      enabled: text('aof_enabled') === '1',
      writeOk: text('aof_last_write_status') === 'ok',
      rewriteOk: text('aof_last_bgrewrite_status') === 'ok',
      size: number('aof_current_size'),
      delayed: number('aof_delayed_fsync'),
    },
  };
}
