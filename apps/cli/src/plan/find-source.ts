import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseRemote } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { CliError } from '../shell/index.ts';

export type Source = NonNullable<CreateRun['workspace']>['source'];

export interface SourceOptions {
  /** A path relative to `cwd`, or the URL of a git repository. */
  source?: string | undefined;
  ref?: string | undefined;
  /** @default git for a repository, archive for a file, otherwise directory */
  sourceType?: 'directory' | undefined;
}

/**
 * Finds the source of a run. A git repository is read from its commits; its work tree, with uncommitted files, is used only on request.
 *
 * @throws CliError `usage`
 */
export async function findSource(cwd: string, { source, ref, sourceType }: SourceOptions): Promise<Source> {
  if (source === undefined) {
    if (ref === undefined) return { type: 'empty' };
    throw new CliError('usage', 'Options of a source, such as --ref, need --source.');
  }
  if (isUrl(source)) return remoteSource(source, ref);
  const path = await realpath(resolve(cwd, source)).catch(() => undefined);
  if (path === undefined) {
    throw new CliError('usage', `The source ${resolve(cwd, source)} does not exist.`, {
      next: 'Give an existing directory or file with --source.',
    });
  }
  const type = await typeOf(path, sourceType);
  if (type === 'git') return { type, path, ref };
  if (ref === undefined) return { type, path };
  throw new CliError('usage', `--ref needs a git repository, and ${path} is ${asWhat[type]}.`);
}

/** No path has `://`, and `git@host:path` is a path only in a directory of this name. */
const isUrl = (source: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[\w.-]+@[\w.-]+:/.test(source);

function remoteSource(url: string, ref: string | undefined): Source {
  const remote = parseRemote(url);
  if (typeof remote !== 'string') return { type: 'git', url: remote.url, ref };
  throw new CliError('usage', `${url.replace(/\/\/[^@/]*@/, '//…@')}: ${remote}.`);
}

const asWhat = { directory: 'a directory', archive: 'an archive' } as const;

async function typeOf(path: string, asked: 'directory' | undefined): Promise<'git' | 'directory' | 'archive'> {
  const found = await stat(path);
  if (found.isFile()) {
    if (asked === undefined) return 'archive';
    throw new CliError('usage', `${path} is not a directory.`, { next: 'Give a directory or a git repository.' });
  }
  if (!found.isDirectory()) {
    throw new CliError('usage', `${path} is neither a directory nor a file.`, {
      next: 'Give a directory, a git repository or an archive.',
    });
  }
  return asked ?? ((await isRepository(path)) ? 'git' : 'directory');
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
