import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Options {
  input?: string;
  env?: Record<string, string>;
}

/** Names may be outside of UTF-8: git's input and output are Latin-1, a character per byte. */
const options = (cwd: string, { input, env }: Options) => ({
  cwd,
  encoding: 'latin1' as const,
  maxBuffer: 1024 * 1024 * 1024,
  input: input === undefined ? undefined : Buffer.from(input, 'latin1'),
  env: { ...environment(cwd), ...env },
});

/** Excludes the configuration of the machine and its user. */
const environment = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: fileURLToPath(new URL('gitconfig', import.meta.url)),
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@localhost',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@localhost',
  GIT_ALLOW_PROTOCOL: 'file',
  // A clone has no replacements, and a commit ignores them.
  GIT_NO_REPLACE_OBJECTS: '1',
});

/** @throws an error with git's stderr */
export const git = (cwd: string, args: readonly string[], more: Options = {}): string =>
  execFileSync('git', args, { ...options(cwd, more), stdio: 'pipe' });

/** The complaints of `git fsck`, with trees of old repositories among them. */
export function fsck(cwd: string): string {
  const { stdout, stderr } = spawnSync('git', ['fsck', '--strict', '--full', '--no-dangling'], options(cwd, {}));
  return stdout + stderr;
}

/** @returns the exit code */
export const gitCode = (cwd: string, args: readonly string[]): number | null =>
  spawnSync('git', args, options(cwd, {})).status;

/** Runs a script in the way of a run's step: in bash, with an exit at the first failing command. */
export function runScript(cwd: string, script: string): void {
  execFileSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], { ...options(cwd, {}), stdio: 'pipe' });
}

/** Entries of a tree by path, as `mode oid`. @param options.submodules whether to include them; a workspace does not */
export function treeEntries(cwd: string, treeish: string, { submodules = true } = {}): Map<string, string> {
  const rows = git(cwd, ['ls-tree', '-r', '-z', '--full-tree', treeish]).split('\0').filter(Boolean);
  const parsed = rows.map((row): [string, string] => {
    const [head = '', path = ''] = [row.slice(0, row.indexOf('\t')), row.slice(row.indexOf('\t') + 1)];
    const [mode = '', , oid = ''] = head.split(' ');
    return [path, `${mode} ${oid}`];
  });
  return new Map(parsed.filter(([, entry]) => submodules || !entry.startsWith('160000')));
}

/** Different paths of two trees. A rename counts as a deletion and an addition. */
export function changedPaths(cwd: string, from: string, to: string): string[] {
  const rows = git(cwd, ['diff-tree', '-r', '-z', '--no-renames', '--name-only', from, to]);
  return rows.split('\0').filter(Boolean).sort();
}
