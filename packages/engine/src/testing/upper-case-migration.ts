import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '@holdpoint/process/durable-files';
import type { Migration } from '../installation/migrations/migration.ts';
import { dataFormat } from '../installation/migrations/migrations.ts';

/** A migration for tests: it changes the values of `value:*` in Redis and the files `value-*`. */
export const upperCase: Migration = {
  from: dataFormat,
  to: dataFormat + 1,
  title: 'values are written in capital letters',
  async run({ redis, dataDir }) {
    for (const key of await redis.keys('value:*')) await redis.set(key, String(await redis.get(key)).toUpperCase());
    for (const name of await readdir(dataDir)) {
      if (!name.startsWith('value-')) continue;
      const file = join(dataDir, name);
      await writeDurably(file, (await readFile(file, 'utf8')).toUpperCase());
      await redis.incr('files-changed');
    }
  },
};
