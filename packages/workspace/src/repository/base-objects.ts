import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Source, sourceFoldersOf } from '@holdpoint/contract';
import { type Deps, errnoOf, type Owner } from '../deps.ts';
import { linkFile, openTop, removeFolder, setFolderOwner, syncPath } from '../files/index.ts';
import type { RunFolder } from '../run-folder/index.ts';
import { linkHistory } from './history.ts';

/**
 * Files of Holdpoint's own repository in a workspace, mounted read-only over the files in the tree while commands run: they decide about
 * the programs run by git and about the place of git's configuration. `commondir` is included, because other content would lead git to
 * another configuration.
 */
const fixedFiles: Readonly<Record<string, string>> = {
  config: [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tfilemode = true',
    '\tbare = false',
    '\tlogallrefupdates = true',
    '\tfsmonitor = false',
    '\tuntrackedCache = false',
    '\thooksPath = /dev/null',
    '[user]',
    '\tname = Holdpoint',
    '\temail = holdpoint@localhost',
    '[gc]',
    '\tauto = 0',
    '[maintenance]',
    '\tauto = false',
    '[repack]',
    '\tupdateServerInfo = false',
    // With threads, git adds an extension to a large index, so the first `git status` would change the snapshot.
    '[index]',
    '\tthreads = 1',
    // Otherwise `git status` runs git in the repository of a submodule, possibly made by a command.
    '[diff]',
    '\tignoreSubmodules = dirty',
    '[submodule]',
    '\trecurse = false',
    '[fetch]',
    '\trecurseSubmodules = false',
    '',
  ].join('\n'),
  commondir: '.\n',
};

/** @param source git ignores the folders shown to its runs: they are no files of the run */
const fixedFilesOf = (source: Source): Readonly<Record<string, string>> => ({
  ...fixedFiles,
  'info/exclude': sourceFoldersOf(source)
    .map((path) => `/${path.replace(/[\\*?[\] ]/g, '\\$&')}/\n`)
    .join(''),
});

const fixedFolders = ['hooks', 'info'] as const;

/**
 * Folder next to a run's trees with the `objects` of the base commit and `fixed`. Inside the sandbox the folder has the same path relative
 * to `.git/objects`.
 */
const repositoryFolder = 'holdpoint';

export const initialFiles = (source: Source, baseCommit: string): Readonly<Record<string, string>> => ({
  ...fixedFilesOf(source),
  HEAD: 'ref: refs/heads/main\n',
  'refs/heads/main': `${baseCommit}\n`,
  'objects/info/alternates': `../../../${repositoryFolder}/objects\n`,
});

export const initialFolders = [
  ...fixedFolders,
  'objects',
  'objects/info',
  'objects/pack',
  'refs',
  'refs/heads',
  'refs/tags',
] as const;

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
