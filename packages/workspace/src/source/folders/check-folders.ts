import { type Source, sourceFoldersOf } from '@holdpoint/contract';
import type { Deps } from '../../deps.ts';
import { createYielder, fromPlain, isWithin } from '../../files/index.ts';
import type { FoundSource } from '../git/found-source.ts';
import { listGit } from '../git/repository.ts';
import { findUnusable } from './find-unusable.ts';
import { type OpenFolder, openFolder, refuse } from './judge-folder.ts';

type CheckDeps = Pick<Deps, 'git' | 'bounds' | 'isRoot' | 'limits'>;
type GitFound = Extract<FoundSource, { type: 'git' }>;

/**
 * Refuses the folders of a source invisible to its runs: missing folders, links, files of the run, and folders unreadable for a run.
 * @param input.top real path of the source
 * @throws WorkspaceError ESOURCEFOLDER, ESOURCEFORBIDDEN, ESOURCEINDATADIR
 */
export async function checkFolders(
  deps: CheckDeps,
  { source, found, top }: { source: Source; found: FoundSource; top: string },
): Promise<void> {
  for (const path of sourceFoldersOf(source)) {
    if (found.type === 'git') {
      const { gitDir, common } = found.repository;
      if ([gitDir, common].some((folder) => isWithin(fromPlain(top), fromPlain(folder)))) {
        throw refuse({ path }, 'cannot be shown: a repository without a work tree has no such folders');
      }
    }
    using opened = openFolder(deps, { top, path });
    if (found.type === 'git') await assertUntracked(deps, { found, path });
    await assertUsable(deps, opened);
  }
}

/** A file of the commit at a path, or in the place of a parent folder, is a file of the run. */
async function assertUntracked(deps: Pick<Deps, 'git'>, input: { found: GitFound; path: string }): Promise<void> {
  const { found, path } = input;
  const names = path.split('/');
  const paths = names.map((_, index) => names.slice(0, index + 1).join('/'));
  for await (const rows of listGit(deps.git, found.repository, ['ls-tree', '-z', found.commit, '--', ...paths])) {
    for (const row of rows) {
      const [, kind = '', name = ''] = /^\d+ (\w+) [0-9a-f]+\t(.*)$/s.exec(row) ?? [];
      const at = Buffer.from(name, 'latin1').toString('utf8');
      // git also lists the other content of the parent folders. A submodule is an empty folder in a workspace.
      if (!paths.includes(at) || kind === 'commit' || (kind === 'tree' && at !== path)) continue;
      throw refuse({ path }, at === path ? 'is part of the commit, so the run has it' : `lies below the file ${at}`);
    }
  }
}

async function assertUsable({ isRoot, limits }: CheckDeps, { folder, opened }: OpenFolder): Promise<void> {
  const input = { asOther: isRoot, most: limits.entries, maybeYield: createYielder() };
  const { unreadable, count, fifo, tooMany } = await findUnusable(opened.path, input);
  if (tooMany) throw refuse(folder, `has more than ${limits.entries} files and folders`);
  if (fifo !== undefined) throw refuse(folder, `has the FIFO ${fifo}, through which a run could reach other programs`);
  if (count === 0) return;
  const names = `${unreadable.join(', ')}${count > unreadable.length ? ', …' : ''}`;
  const who = isRoot ? 'the users of runs' : 'the user of the worker';
  throw refuse(folder, `has what ${who} cannot read (${count}: ${names}); try chmod -R o+rX ${folder.host}`);
}
