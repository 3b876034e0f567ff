import { entryType } from './entry-type.ts';
import type { Operations } from './protocol.ts';
import { Refusal } from './refusal.ts';
import { resolve } from './resolve.ts';

export function stat(root: string, input: Operations['stat']['input']): Operations['stat']['output'] {
  const { stats } = resolve(root, input.path);
  if (!stats) throw new Refusal('ENOENT', 'no such file or directory');
  return { type: entryType(stats), bytes: stats.size, mode: stats.mode & 0o7777, mtime_ms: stats.mtimeMs };
}
