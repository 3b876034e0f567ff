import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { quote } from './judge-line.ts';
import type { SmallRoot } from './small-root.ts';

/** The common effects of lines: the first started program of the tree, and whether the tree changed. */
export interface Reached {
  started: string | undefined;
  wrote: boolean;
}

export interface Tree extends Disposable {
  id: string;
  path: string;
  uid: number;
  gid: number;
}

/** The sandbox of this host. @param directory its records lie below; another user passes the directory */
export const openWalls = (directory: string): Promise<Sandbox> =>
  openSandbox({
    ...{ policy: 'require', allowUnsandboxed: false, stateDir: join(directory, 'state') },
    bwrapPath,
  });

/** A workspace with stand-ins of programs, a repository, and files named in the grammar's lines. */
export function makeTree({ bin }: SmallRoot, parent: string): Tree {
  const path = mkdtempSync(join(parent, 'tree-'));
  cpSync(bin, join(path, 'bin'), { recursive: true });
  for (const name of readdirSync(bin)) cpSync(join(bin, name), join(path, name));
  for (const name of ['full', 'keep', 'f', '-v', 'a[$(evil)]', 'x=($(evil))'])
    writeFileSync(join(path, name), `${name}\n`);
  writeFileSync(join(path, 'evil.sh'), 'evil\n');
  mkdirSync(join(path, 'deep'));
  execFileSync('git', ['init', '-q'], {
    cwd: path,
    env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', HOME: path },
  });
  const isRoot = process.getuid?.() === 0;
  const owner = isRoot ? { uid: 214_321, gid: 214_321 } : { uid: process.getuid!(), gid: process.getgid!() };
  if (isRoot) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, path]);
  const remove = () => rmSync(path, { recursive: true, force: true });
  return { id: `run_${path.slice(-6)}`, path, ...owner, [Symbol.dispose]: remove };
}

/**
 * Runs lines in a single sandbox, each in a subshell of its own: behind the wall of these programs, or as writing lines.
 * @param only programs permitted to start; undefined: no wall
 */
export async function runWalled(
  sandbox: Sandbox,
  tree: Tree,
  lines: readonly string[],
  only: readonly string[] | undefined,
): Promise<Reached> {
  const before = stateOf(tree.path);
  const script = lines.map((line) => `(ulimit -t 1; eval ${quote(line)}) </dev/null >/dev/null 2>&1\n`).join('');
  const { stdout } = await sandbox.run({
    workspace: tree,
    argv: ['/bin/bash', '-c', 'exec /bin/bash /dev/stdin 9>&1'],
    stdin: `cd /workspace; PATH=$PATH:/workspace/bin\n${script}`,
    ...(only && { only }),
    limits: { wall_ms: 20_000 },
    signal: new AbortController().signal,
  });
  const [, count, program = ''] = stdout.text.split('\0');
  return { started: count === undefined ? undefined : program, wrote: stateOf(tree.path) !== before };
}

/** Names, types, modes, times and contents. */
function stateOf(path: string): string {
  const list = `find . -printf '%P %y %m %s %n %T@ %C@\\n' | sort; find . -type f -print0 | sort -z | xargs -0 cat | sha256sum`;
  return execFileSync('bash', ['-c', list], { cwd: path, encoding: 'utf8' });
}
