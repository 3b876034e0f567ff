import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseRemote } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { CliError, readGivenFile } from '../shell/index.ts';

export type Source = NonNullable<CreateRun['workspace']>['source'];

export interface SourceOptions {
  /** A path relative to `cwd`, or the URL of a git repository. */
  source?: string | undefined;
  ref?: string | undefined;
  history?: number | 'full' | 'none' | undefined;
  /** For a URL: the name of a secret, and its user. */
  sourceSecret?: string | undefined;
  sourceUser?: string | undefined;
  /** A file, relative to `cwd`. */
  knownHosts?: string | undefined;
  /** @default git for a repository, archive for a file, otherwise directory */
  sourceType?: 'git' | 'directory' | 'archive' | undefined;
  /** Globs. */
  include?: string[] | undefined;
  exclude?: string[] | undefined;
  /** Folders of the source visible to the run read-only, relative to its top. */
  with?: string[] | undefined;
}

/**
 * Finds the source of a run. A git repository is read from its commits; its work tree, with uncommitted files, is used only on request.
 *
 * @throws CliError `usage`
 */
export async function findSource(cwd: string, options: SourceOptions): Promise<Source> {
  const { source, ref, history, include, exclude } = options;
  const folders = options.with?.map((path) => path.replace(/^(\.\/)+|\/+$/g, ''));
  const ofRemote = [options.sourceSecret, options.sourceUser, options.knownHosts];
  if (source === undefined) {
    const given = [ref, history, options.sourceType, include, exclude, folders, ...ofRemote];
    if (given.some((option) => option !== undefined))
      throw new CliError('usage', '--ref, --history, --include, --exclude and options of a source need --source.');
    return { type: 'empty' };
  }
  if (isUrl(source)) {
    if (folders === undefined) return remoteSource(cwd, source, options);
    throw new CliError('usage', '--with needs a source on this host, and a URL has no folders here.');
  }
  if (ofRemote.some((option) => option !== undefined)) {
    throw new CliError('usage', '--source-secret, --source-user and --known-hosts need a URL as --source.');
  }
  const path = await realpath(resolve(cwd, source)).catch(() => undefined);
  if (path === undefined) {
    throw new CliError('usage', `There is no ${resolve(cwd, source)}.`, {
      next: 'Give an existing directory or file.',
    });
  }
  const type = await typeOf(path, options);
  if (type === 'git') return { type, path, ref, history, include, exclude, with: folders };
  if (ref !== undefined || history !== undefined) {
    const option = ref === undefined ? '--history' : '--ref';
    throw new CliError('usage', `${option} needs a git repository, and ${path} is ${asWhat[type]}.`);
  }
  if (type === 'directory') return { type, path, include, exclude, with: folders };
  if (folders === undefined) return { type, path, include, exclude };
  throw new CliError('usage', `--with needs a directory or a git work tree, and ${path} is an archive.`);
}

/** No path has `://`, and `git@host:path` is a path only in a directory of this name. */
const isUrl = (source: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[\w.-]+@[\w.-]+:/.test(source);

async function remoteSource(cwd: string, url: string, options: SourceOptions): Promise<Source> {
  const {
    ref,
    history,
    include,
    exclude,
    sourceType,
    sourceSecret: secret,
    sourceUser: username,
    knownHosts,
  } = options;
  const remote = parseRemote(url);
  if (typeof remote === 'string') throw new CliError('usage', `${url.replace(/\/\/[^@/]*@/, '//…@')}: ${remote}.`);
  if (sourceType !== undefined && sourceType !== 'git')
    throw new CliError('usage', 'A source with a URL is a git repository.');
  if (username !== undefined && secret === undefined)
    throw new CliError('usage', '--source-user needs --source-secret.');
  const credentials = secret === undefined ? undefined : { secret, username };
  const next = 'Give a known_hosts file.';
  const known_hosts = knownHosts && (await readGivenFile(cwd, knownHosts, { code: 'usage', next })).toString();
  return { type: 'git', url: remote.url, credentials, known_hosts, ref, history, include, exclude };
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
