import { type Source, sourceFoldersOf } from '@holdpoint/contract';

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
export const fixedFilesOf = (source: Source): Readonly<Record<string, string>> => ({
  ...fixedFiles,
  'info/exclude': sourceFoldersOf(source)
    .map((path) => `/${path.replace(/[\\*?[\] ]/g, '\\$&')}/\n`)
    .join(''),
});

export const fixedFolders = ['hooks', 'info'] as const;

/**
 * Folder next to a run's trees with the `objects` of the base commit and `fixed`. Inside the sandbox the folder has the same path relative
 * to `.git/objects`.
 */
export const repositoryFolder = 'holdpoint';

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
