import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CreateRun } from '@holdpoint/contract/wire';
import { CliError } from '../shell/index.ts';

export type Source = NonNullable<CreateRun['workspace']>['source'];

export interface SourceOptions {
  /** Relative to `cwd`. */
  source?: string | undefined;
  ref?: string | undefined;
  /** @default git for a repository, archive for a file, otherwise directory */
  sourceType?: 'git' | 'directory' | 'archive' | undefined;
  /** Globs. */
  include?: string[] | undefined;
  exclude?: string[] | undefined;
}

/**
 * Finds what a run works on. A git repository is read from its commits; its work tree, with uncommitted files, is used only on request.
 *
 * @throws CliError `usage`
 */
export async function findSource(cwd: string, options: SourceOptions): Promise<Source> {
  const { source, ref, include, exclude } = options;
  if (source === undefined) {
    if ([ref, options.sourceType, include, exclude].some((option) => option !== undefined))
      throw new CliError('usage', '--ref, --source-type, --include and --exclude need --source.');
    return { type: 'empty' };
  }
  const path = await realpath(resolve(cwd, source)).catch(() => undefined);
  if (path === undefined) {
    throw new CliError('usage', `There is no ${resolve(cwd, source)}.`, {
      next: 'Give an existing directory or file.',
    });
  }
  const type = await typeOf(path, options);
  if (type === 'git') return { type, path, ref, include, exclude };
  if (ref !== undefined) {
    throw new CliError('usage', `--ref needs a git repository, and ${path} is ${asWhat[type]}.`);
  }
  return { type, path, include, exclude };
}

const asWhat = { directory: 'a directory', archive: 'an archive' } as const;

async function typeOf(path: string, { sourceType }: SourceOptions): Promise<'git' | 'directory' | 'archive'> {
  const found = await stat(path);
  if (found.isFile()) {
    if (sourceType === undefined || sourceType === 'archive') return 'archive';
    throw new CliError('usage', `${path} is not a directory.`, { next: 'Give a directory or a git repository.' });
  }
  if (!found.isDirectory()) {
    throw new CliError('usage', `${path} is neither a directory nor a file.`, {
      next: 'Give a directory, a git repository or an archive.',
    });
  }
  if (sourceType === 'archive') {
    throw new CliError('usage', `${path} is not a file.`, { next: 'Give a .tar, .tar.gz or .zip file.' });
  }
  return sourceType ?? ((await isRepository(path)) ? 'git' : 'directory');
}

/** A work tree, where .git may be a file, or a bare repository. */
async function isRepository(path: string): Promise<boolean> {
  if (await exists(join(path, '.git'))) return true;
  const bare = await Promise.all(['HEAD', 'objects', 'refs'].map((name) => exists(join(path, name))));
  return bare.every(Boolean);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
