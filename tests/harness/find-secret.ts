import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Redis } from 'ioredis';
import type { System } from './system.ts';

/** How a value may be written. Computed apart from the product's own list. */
export function formsOf(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(before === 0 ? 0 : before + 1, (bytes.length + before) % 3 === 0 ? text.length : -4);
  });
  const json = JSON.stringify(value).slice(1, -1);
  return [
    ...[value, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(value), bytes.toString('hex')],
    ...base64.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]),
    bytes.toString('hex').toUpperCase(),
  ].map((form) => Buffer.from(form));
}

/** The places in a stopped or running system with any of the values: keys of Redis, objects, files. Its secret store is left out. */
export async function placesWith(system: System, values: readonly string[]): Promise<string[]> {
  const forms = values.flatMap(formsOf);
  const has = (content: Buffer) => forms.some((form) => content.includes(form));
  const store = join(system.dataDir, 'secrets');
  const places = await placesHaving(system, has, { except: (path) => path === store });
  const runs = join(system.dataDir, 'runs');
  for (const run of existsSync(runs) ? readdirSync(runs) : []) {
    const shadow = join(runs, run, 'shadow.git');
    if (existsSync(shadow) && has(objectsOf(shadow))) places.push(`objects of ${run}`);
  }
  return places;
}

/** Keys of Redis and files with any of the texts. */
export async function placesHaving(
  system: Pick<System, 'redis' | 'directory'>,
  has: (content: Buffer) => boolean,
  { except }: { except: (path: string) => boolean },
): Promise<string[]> {
  // A wrong folder would hold nothing.
  statSync(system.directory);
  const redis = new Redis(system.redis.address);
  try {
    const places: string[] = [];
    for (const key of await redis.keys('*')) if (has(await contentOf(redis, key))) places.push(`redis ${key}`);
    for (const file of filesBelow(system.directory, except)) {
      if (has(contentIfThere(file)) || has(Buffer.from(file))) places.push(relative(system.directory, file));
    }
    return places;
  } finally {
    redis.disconnect();
  }
}

/** DUMP may compress, so the values are read, too. */
async function contentOf(redis: Redis, key: string): Promise<Buffer> {
  const dump = (await redis.dumpBuffer(key)) ?? Buffer.alloc(0);
  const reads: Record<string, () => Promise<unknown>> = {
    string: () => redis.getBuffer(key),
    hash: () => redis.callBuffer('HGETALL', key),
    stream: () => redis.callBuffer('XRANGE', key, '-', '+'),
    zset: () => redis.zrangeBuffer(key, '0', '-1'),
    list: () => redis.lrangeBuffer(key, 0, -1),
    set: () => redis.smembersBuffer(key),
  };
  const read = reads[await redis.type(key)];
  return Buffer.concat([dump, ...flat(await read?.())]);
}

const flat = (value: unknown): Buffer[] =>
  Buffer.isBuffer(value) ? [value, Buffer.from('\0')] : Array.isArray(value) ? value.flatMap(flat) : [];

/** Files of a running system come and go: an absent file stores nothing. */
function contentIfThere(file: string): Buffer {
  return ifThere(() => readFileSync(file)) ?? Buffer.alloc(0);
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function* filesBelow(folder: string, except: (path: string) => boolean): Generator<string> {
  for (const entry of ifThere(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name);
    if (except(path)) continue;
    if (entry.isDirectory()) yield* filesBelow(path, except);
    else if (entry.isFile() && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) yield path;
  }
}

const objectsOf = (shadow: string): Buffer =>
  execFileSync('git', [`--git-dir=${shadow}`, 'cat-file', '--batch-all-objects', '--batch'], { maxBuffer: 2 ** 30 });
