import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps, RunFolder } from '../deps.ts';
import { removeFolder } from '../files/index.ts';
import { temporaryPath } from '../run-folder/index.ts';
import { createShadow } from '../store/shadow.ts';
import { createRunStates } from '../tree/index.ts';

/**
 * Works on a repository with a run's shadow repository as its source of objects, and writes to its own objects. The repository is removed
 * afterwards; after the death of the process, the next process removes the repository together with unfinished workspaces.
 */
export async function withBorrowedShadow<Result>(
  deps: Deps,
  folder: RunFolder,
  act: (deps: Deps, folder: RunFolder) => Promise<Result>,
): Promise<Result> {
  const path = temporaryPath(deps, folder.runId);
  const borrowed = { ...folder, shadow: join(path, 'shadow.git') };
  mkdirSync(path, { recursive: true, mode: 0o700 });
  try {
    await createShadow(borrowed);
    mkdirSync(join(borrowed.shadow, 'objects', 'info'), { recursive: true });
    writeFileSync(join(borrowed.shadow, 'objects', 'info', 'alternates'), `${join(folder.shadow, 'objects')}\n`);
    for (const name of ['refs', 'shallow', 'snapshots'].filter((one) => existsSync(join(folder.shadow, one)))) {
      cpSync(join(folder.shadow, name), join(borrowed.shadow, name), { recursive: true });
    }
    // The run's own state must not list objects of this temporary repository.
    return await act({ ...deps, states: createRunStates() }, borrowed);
  } finally {
    await removeFolder(path);
  }
}
