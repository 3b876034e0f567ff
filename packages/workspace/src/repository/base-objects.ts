import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { type Deps, errnoOf, type Owner } from '../deps.ts';
import { linkFile, openTop, removeFolder, setFolderOwner, syncPath } from '../files/index.ts';
import type { RunFolder } from '../run-folder/index.ts';
import { linkHistory } from './history.ts';
import { fixedFilesOf, fixedFolders, repositoryFolder } from './repository-files.ts';

/** Host paths mounted read-only by the sandbox for the repository in the tree. */
export function repositoryMounts(folder: RunFolder): { fixed: string; objects: string } {
  const path = pathOf(folder);
  return { fixed: join(path, 'fixed'), objects: join(path, 'objects') };
}

const pathOf = (folder: RunFolder): string => join(folder.path, 'trees', repositoryFolder);

interface Input {
  folder: RunFolder;
  source: Source;
  owner: Owner;
  /** The first commit of the repository. */
  baseCommit: string;
  /** A folder of objects visible to commands. @default the commit's objects are copied from the shadow repository */
  share?: string;
  signal?: AbortSignal;
}

/**
 * Creates the objects shared by the repositories in a run's trees, unless they exist. Commands never see the shadow repository: the shadow
 * repository holds files excluded from the workspace, and objects fetched by a publish.
 */
export async function createBaseObjects(deps: Pick<Deps, 'git' | 'isRoot'>, input: Input): Promise<void> {
  const path = pathOf(input.folder);
  if (existsSync(path)) return;
  const aside = `${path}.${process.pid}`;
  await removeFolder(aside);
  const pack = join(aside, 'objects', 'pack');
  mkdirSync(pack, { recursive: true, mode: 0o755 });
  if (input.share !== undefined && existsSync(input.share)) await linkPacks(input.share, pack);
  else await copyObjects(deps, { ...input, pack });
  await linkHistory(input.folder, pack);
  for (const name of fixedFolders) mkdirSync(join(aside, 'fixed', name), { recursive: true });
  for (const [name, content] of Object.entries(fixedFilesOf(input.source)))
    writeFileSync(join(aside, 'fixed', name), content);
  await Promise.all(below(aside).map(syncPath));
  // The objects are world-readable; only the run's user can enter this folder.
  using opened = openTop(aside);
  setFolderOwner(opened.fd, deps.isRoot ? input.owner : undefined, 0o700);
  try {
    renameSync(aside, path);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
    await removeFolder(aside);
  }
}

async function linkPacks(from: string, to: string): Promise<void> {
  const source = join(from, 'pack');
  for (const name of readdirSync(source)) {
    if (/^pack-[0-9a-f]{40}\.(pack|idx)$/.test(name)) await linkFile(join(source, name), join(to, name));
  }
}

async function copyObjects(deps: Pick<Deps, 'git'>, input: Input & { pack: string }): Promise<void> {
  const args = [`--git-dir=${input.folder.shadow}`, 'pack-objects', '-q', '--revs', join(input.pack, 'pack')];
  await deps.git.run(args, { input: `${input.baseCommit}\n`, signal: input.signal });
}

/** The next tree creates them again. */
export const removeBaseObjects = (folder: RunFolder): Promise<void> => removeFolder(pathOf(folder));

function below(path: string): string[] {
  const inside = readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const at = join(path, entry.name);
    if (entry.isDirectory()) return below(at);
    return [at];
  });
  return [...inside, path];
}
