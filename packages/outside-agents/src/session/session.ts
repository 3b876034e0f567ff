import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { driverOf } from '../drivers/drivers.ts';

/** The changes of an agent's session in a turn, as the agent's own sandbox reported them. */
export interface SessionChange {
  /** Gzipped JSON in base64. */
  data: string;
}

const mostBytes = 64 * 1024 * 1024;

const changeSchema = z.strictObject({
  removed: z.array(z.string()),
  changed: z.array(
    z.strictObject({
      path: z.string(),
      bytes: z.int().min(0).max(mostBytes),
      blocks: z.array(z.tuple([z.int().min(0), z.base64()])),
    }),
  ),
});

/**
 * The files of a session by path, from all its changes in order. The paths and contents are the agent's words: they go back into its sandbox alone.
 * @throws SessionError
 */
export function foldSession(changes: readonly SessionChange[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const { data } of changes) {
    const { removed, changed } = read(data);
    for (const path of removed) files.delete(path);
    for (const { path, bytes, blocks } of changed) {
      if (!isInside(path)) throw new SessionError(`a file at ${JSON.stringify(path.slice(0, 100))}`);
      const before = files.get(path) ?? Buffer.alloc(0);
      const content = Buffer.alloc(bytes);
      before.copy(content, 0, 0, Math.min(before.length, bytes));
      for (const [at, base64] of blocks) {
        const block = Buffer.from(base64, 'base64');
        if (at + block.length > bytes) throw new SessionError('a block behind the end of its file');
        block.copy(content, at);
      }
      files.set(path, content);
    }
    let total = 0;
    for (const content of files.values()) total += content.length;
    if (total > mostBytes) throw new SessionError(`${total} bytes`);
  }
  return files;
}

export class SessionError extends Error {
  override name = 'SessionError';
}

function read(data: string): z.infer<typeof changeSchema> {
  try {
    return changeSchema.parse(
      JSON.parse(gunzipSync(Buffer.from(data, 'base64'), { maxOutputLength: 2 * mostBytes }).toString()),
    );
  } catch (cause) {
    throw new SessionError('changes that cannot be read', { cause });
  }
}

const isInside = (path: string): boolean =>
  path !== '' && !path.startsWith('/') && !path.split('/').some((part) => part === '..' || part === '' || part === '.');

/** Names the state of a session after a change: the digest of all changes so far. */
export const nextState = (before: string, { data }: SessionChange): string =>
  createHash('sha256').update(`${before}\n${data}`).digest('hex');

/**
 * The calls whose results a session has, by the agent's ids and by the ids in its prompts. Agents write their session late: it may lack results that
 * the log has. Undefined for an agent whose files are not read, and for files that cannot be read.
 */
export function resultsIn(agent: string, changes: readonly SessionChange[]): ReadonlySet<string> | undefined {
  try {
    return driverOf(agent).resultsIn?.(foldSession(changes));
  } catch {
    return undefined;
  }
}
