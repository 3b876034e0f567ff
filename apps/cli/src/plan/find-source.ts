import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CliError } from '../errors.ts';

export type Source =
  | { type: 'directory'; path: string }
  | { type: 'git'; path: string; ref?: string }
  | { type: 'empty' };

export interface SourceOptions {
  /** Relative to `cwd`. */
  source?: string | undefined;
  ref?: string | undefined;
  /** @default git for a repository, otherwise directory */
  sourceType?: 'git' | 'directory' | undefined;
}

/**
 * What a run works on. A directory which is a git repository is taken from its commits: the work tree as it is, with everything that was
 * never committed, is only used when asked for.
 *
 * @throws CliError `usage`
 */
export async function findSource(cwd: string, { source, ref, sourceType }: SourceOptions): Promise<Source> {
  if (source === undefined) {
    if (ref !== undefined || sourceType !== undefined)
      throw new CliError('usage', '--ref and --source-type need --source.');
    return { type: 'empty' };
  }
  const path = await directoryAt(resolve(cwd, source));
  const type = sourceType ?? ((await isRepository(path)) ? 'git' : 'directory');
  if (type === 'git') return { type, path, ...(ref === undefined ? {} : { ref }) };
  if (ref !== undefined)
    throw new CliError('usage', `--ref needs a git repository, and ${path} is used as a directory.`);
  return { type, path };
}

async function directoryAt(source: string): Promise<string> {
  const path = await realpath(source).catch(() => undefined);
  if (path === undefined)
    throw new CliError('usage', `There is no ${source}.`, { next: 'Give an existing directory.' });
  if (!(await stat(path)).isDirectory()) {
    throw new CliError('usage', `${source} is not a directory.`, { next: 'Give a directory or a git repository.' });
  }
  return path;
}

/** A work tree (whose .git may be a file), or a bare repository. */
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
