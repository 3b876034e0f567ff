import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Prepared, prepareDurably, syncFolder } from '../files/write-durably.ts';

/** Points a ref of a repository that only this package writes at an object. On disk when it returns. */
export async function writeRef(gitDir: string, ref: string, oid: string): Promise<void> {
  const prepared = await prepareRef(gitDir, ref, oid);
  await prepared.put();
}

/**
 * Brings a ref to disk but for its name, while the objects that it needs are still on their way there: waiting for both at once takes
 * as long as for one.
 */
export async function prepareRef(gitDir: string, ref: string, oid: string): Promise<Prepared> {
  const path = join(gitDir, ref);
  const folder = dirname(path);
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    await syncFolder(dirname(folder));
  }
  return prepareDurably(path, `${oid}\n`, 0o644);
}
