import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, errnoOf } from '../../../deps.ts';
import { removeFolder } from '../../../files/index.ts';
import { type Folder, find, isLeaf, type Leaf, modes } from '../../../store/objects/index.ts';
import { indexOf } from '../../../tree/index-file.ts';

export interface AttributeQuery {
  /** The run's repository, with the `.gitattributes` of the tree. */
  shadow: string;
  /** The user's repository. Its `info/attributes` override the tree's attributes. */
  source: string | undefined;
  root: Folder;
  paths: readonly string[];
  /** Names of the attributes. */
  names: readonly string[];
}

/** git ignores a larger attributes file. Bytes. */
const largestFile = 100 * 1024 * 1024;

/**
 * Asks git for the attributes of paths in a tree. git reads them from an index with only the `.gitattributes` above the paths, in a
 * repository without configuration. So every version of git can answer, and git knows no driver to run.
 */
export async function checkAttributes(
  deps: Pick<Deps, 'git'>,
  input: AttributeQuery,
): Promise<Map<string, ReadonlyMap<string, string>>> {
  const files = attributeFiles(input);
  const own = input.source === undefined ? undefined : readInfoAttributes(join(input.source, 'info', 'attributes'));
  if (input.paths.length === 0 || (files.length === 0 && own === undefined)) return new Map();
  const folder = await mkdtemp(join(input.shadow, 'tmp_attributes-'));
  try {
    createRepository(folder, own);
    const options = {
      env: { GIT_INDEX_FILE: join(folder, 'index'), GIT_OBJECT_DIRECTORY: join(input.shadow, 'objects') },
      maxBytes: 256 * 1024 * 1024,
    };
    writeFileSync(options.env.GIT_INDEX_FILE, await indexOf(files));
    const check = [`--git-dir=${folder}`, 'check-attr', '--cached', '--stdin', '-z', ...input.names];
    const paths = Buffer.from(input.paths.map((path) => `${path}\0`).join(''), 'latin1');
    const { stdout } = await deps.git.run(check, { ...options, input: paths });
    return parse(stdout.toString('latin1'));
  } finally {
    await removeFolder(folder);
  }
}

/** The `.gitattributes` of every folder above a path. */
function attributeFiles({ root, paths }: AttributeQuery): { path: string; leaf: Leaf }[] {
  const found = new Map<string, string>();
  const looked = new Set<string>();
  for (const path of paths) {
    const names = path.split('/');
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const at = [...names.slice(0, depth), '.gitattributes'];
      if (looked.has(at.join('/'))) break;
      looked.add(at.join('/'));
      const entry = find(root, at);
      if (isLeaf(entry) && entry.mode !== modes.symlink) found.set(at.join('/'), entry.oid);
    }
  }
  return [...found].map(([path, oid]) => ({ path, leaf: { mode: modes.file, oid } }));
}

function readInfoAttributes(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  try {
    const status = fstatSync(fd);
    return status.isFile() && status.size > 0 && status.size <= largestFile ? readFileSync(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}

function createRepository(folder: string, own: Buffer | undefined): void {
  for (const name of ['objects', 'refs', 'info']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  if (own !== undefined) writeFileSync(join(folder, 'info', 'attributes'), own);
}

/** Rows of three fields: path, attribute, value. */
function parse(output: string): Map<string, Map<string, string>> {
  const fields = output.split('\0');
  const values = new Map<string, Map<string, string>>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', name = '', value = ''] = fields.slice(at, at + 3);
    values.set(path, (values.get(path) ?? new Map()).set(name, value));
  }
  return values;
}
