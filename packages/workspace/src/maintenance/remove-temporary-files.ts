import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { unlessMissing } from '../errors.ts';
import type { RunFolder } from '../run/run-folder.ts';

/** A file that is still being written is younger. */
const idleMs = 3_600_000;

/** Removes temporary files of processes that died while writing objects, refs or packs. */
export async function removeTemporaryFiles(deps: Pick<Deps, 'now'>, folder: RunFolder): Promise<void> {
  for (const below of ['.', 'info', 'objects', 'refs']) {
    await visit(deps, join(folder.shadow, below), below === 'objects' || below === 'refs');
  }
}

const isTemporary = (name: string): boolean => /^(tmp_|collect-)|^\..*\.tmp$|\.lock$/.test(name);

async function visit(deps: Pick<Deps, 'now'>, path: string, deep: boolean): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(unlessMissing([]));
  for (const entry of entries) {
    const below = join(path, entry.name);
    if (isTemporary(entry.name)) {
      const status = await lstat(below).catch(unlessMissing(undefined));
      if (status !== undefined && deps.now() - status.mtimeMs > idleMs)
        await rm(below, { recursive: true, force: true });
    } else if (deep && entry.isDirectory()) await visit(deps, below, deep);
  }
}
