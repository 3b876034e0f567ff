import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Options {
  input?: string;
  env?: Record<string, string>;
}

/** Names need not be UTF-8: what git says is read, and written, as Latin-1, a character for each byte. */
const options = (cwd: string, { input, env }: Options) => ({
  cwd,
  encoding: 'latin1' as const,
  maxBuffer: 1024 * 1024 * 1024,
  ...(input === undefined ? {} : { input: Buffer.from(input, 'latin1') }),
  env: { ...environment(cwd), ...env },
});

/** No configuration of the machine or its user takes part. */
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
  // A clone does not have them, and a commit is made of what is there.
  GIT_NO_REPLACE_OBJECTS: '1',
});

/** @throws with what git wrote to stderr */
export function git(cwd: string, args: readonly string[], more: Options = {}): string {
  return execFileSync('git', args, { ...options(cwd, more), stdio: 'pipe' });
}

/** What `git fsck` complains about. Trees of old repositories are among it. */
export function fsck(cwd: string): string {
  const { stdout, stderr } = spawnSync('git', ['fsck', '--strict', '--full', '--no-dangling'], options(cwd, {}));
  return stdout + stderr;
}

/** @returns the exit code */
export function gitCode(cwd: string, args: readonly string[]): number | null {
  return spawnSync('git', args, options(cwd, {})).status;
}

/** Runs a script as a step of a run does: in bash, ended by the first command that fails. */
export function runScript(cwd: string, script: string): void {
  execFileSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], { ...options(cwd, {}), stdio: 'pipe' });
}

/** Entries of a tree by path, as `mode oid`. Submodules, which are no part of a workspace, are left out where asked. */
export function treeEntries(cwd: string, treeish: string, { submodules = true } = {}): Map<string, string> {
  const rows = git(cwd, ['ls-tree', '-r', '-z', '--full-tree', treeish]).split('\0').filter(Boolean);
  const parsed = rows.map((row): [string, string] => {
    const [head = '', path = ''] = [row.slice(0, row.indexOf('\t')), row.slice(row.indexOf('\t') + 1)];
    const [mode = '', , oid = ''] = head.split(' ');
    return [path, `${mode} ${oid}`];
  });
  return new Map(parsed.filter(([, entry]) => submodules || !entry.startsWith('160000')));
}

/** Paths that differ between two trees, a rename being a deletion and an addition. */
export function changedPaths(cwd: string, from: string, to: string): string[] {
  const rows = git(cwd, ['diff-tree', '-r', '-z', '--no-renames', '--name-only', from, to]);
  return rows.split('\0').filter(Boolean).sort();
}
