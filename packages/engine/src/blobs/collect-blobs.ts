import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Blobs that no log refers to wait here for a concurrent put and for a restored log. `get` reads from here, too. */
export const trash = 'trash';

export interface Collected {
  removed: number;
  bytes: number;
}

interface Input {
  needed: ReadonlySet<string>;
  idleMs: number;
  /** How long a blob stays in the trash, in milliseconds. */
  trashMs: number;
  now: number;
}

/**
 * Moves each suspected blob to the trash, then checks the blob again. A put before the move has renewed the blob's time, so the blob moves
 * back. A put after the move finds no file and writes the blob again. Blobs from earlier collections are checked the same way, and removed
 * after their time in the trash.
 */
export async function collectBlobs(directory: string, input: Input): Promise<Collected> {
  const collected: Collected = { removed: 0, bytes: 0 };
  const folder = join(directory, trash);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const sha256 of await readdir(folder)) await settle(directory, sha256, input, collected);
  for (const shard of await readdir(directory)) {
    if (!/^[0-9a-f]{2}$/.test(shard)) continue;
    for (const rest of await readdir(join(directory, shard))) {
      const file = join(directory, shard, rest);
      if (rest.endsWith('.tmp')) {
        if (await isIdle(file, input)) await rm(file, { force: true });
        continue;
      }
      const sha256 = `${shard}${rest}`;
      if (input.needed.has(sha256) || !(await isIdle(file, input))) continue;
      await rename(file, join(folder, sha256));
      await settle(directory, sha256, input, collected);
    }
  }
  return collected;
}

async function settle(directory: string, sha256: string, input: Input, collected: Collected): Promise<void> {
  const file = join(directory, trash, sha256);
  if (input.needed.has(sha256) || !(await isIdle(file, input))) {
    await rename(file, join(directory, sha256.slice(0, 2), sha256.slice(2)));
    return;
  }
  const { size, ctimeMs } = await stat(file);
  // The move to the trash is the last change of the file's status: ctime.
  if (input.now - ctimeMs <= input.trashMs) return;
  await rm(file);
  collected.removed += 1;
  collected.bytes += size;
}

async function isIdle(file: string, { idleMs, now }: Input): Promise<boolean> {
  const status = await stat(file).catch(() => undefined);
  return status !== undefined && now - status.mtimeMs > idleMs;
}
