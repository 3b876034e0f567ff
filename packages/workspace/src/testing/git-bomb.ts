import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { git, gitBytes } from './real-git.ts';

/** A repository of a few objects whose trees list ten times as many paths with each level. Returns its path. */
export function gitBomb(
  path: string,
  { levels, leaf = 'file' }: { levels: number; leaf?: 'file' | 'submodule' | 'nothing' },
): string {
  const begun = begin(path);
  const file = write(path, 'x\n');
  const rows = { file: `100644 blob ${file}`, submodule: `160000 commit ${'1'.repeat(40)}`, nothing: '' }[leaf];
  let tree = rows === '' ? makeTree(path, []) : makeTree(path, tenOf(rows));
  for (let level = 1; level < levels; level++) tree = makeTree(path, tenOf(`040000 tree ${tree}`));
  return begun(tree);
}

/** A repository with one file below many folders of the same name. */
export function deepRepository(path: string, { folders, name }: { folders: number; name: string }): string {
  const begun = begin(path);
  let tree = makeTree(path, [`100644 blob ${write(path, 'x\n')}\t${name}`]);
  for (let depth = 0; depth < folders; depth++) tree = writeFolder(path, name, tree);
  return begun(tree);
}

/** A loose object: thousands of processes of git would take a minute. */
function writeFolder(path: string, name: string, tree: string): string {
  const entry = Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(tree, 'hex')]);
  const object = Buffer.concat([Buffer.from(`tree ${entry.length}\0`), entry]);
  const id = createHash('sha1').update(object).digest('hex');
  mkdirSync(join(path, 'objects', id.slice(0, 2)), { recursive: true });
  writeFileSync(join(path, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(object));
  return id;
}

const tenOf = (entry: string): string[] => Array.from({ length: 10 }, (_, n) => `${entry}\t${n}`);

function begin(path: string): (tree: string) => string {
  mkdirSync(path, { recursive: true });
  git(path, 'init', '-q', '--bare', '-b', 'main');
  return (tree) => {
    git(path, 'update-ref', 'refs/heads/main', git(path, 'commit-tree', '-m', 'base', tree));
    return path;
  };
}

const makeTree = (path: string, rows: readonly string[]): string =>
  gitBytes(path, ['mktree', '--missing'], rows.map((row) => `${row}\n`).join(''))
    .toString('latin1')
    .trim();

const write = (path: string, content: string): string =>
  gitBytes(path, ['hash-object', '-w', '--stdin'], content).toString('latin1').trim();
