import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../../../deps.ts';
import { errnoOf } from '../../../errors.ts';
import { removeFolder } from '../../../files/remove-folder.ts';
import type { Folder } from '../../../tree/tree.ts';
import { find, isLeaf, modes } from '../../../tree/tree.ts';

/** What git would do with a file's content when it is added. */
export interface Attributes {
  /** `text`: CRLF becomes LF; `auto`: where git sees text. */
  lines: 'text' | 'auto' | 'as they are';
  ident: boolean;
  /** A filter driver. */
  filter: string | undefined;
  /** The encoding in a work tree; in the repository it is UTF-8. */
  encoding: string | undefined;
}

interface Input {
  /** The run's repository, which holds the `.gitattributes` of the tree. */
  shadow: string;
  /** The user's repository, whose `info/attributes` overrule those of the tree. */
  source: string;
  root: Folder;
  paths: readonly string[];
}

const asked = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding'] as const;
/** git reads no larger file of attributes. Bytes. */
const largestFile = 100 * 1024 * 1024;

/**
 * Asks git for the attributes of paths as they are in a tree. git reads them from an index that holds nothing but the `.gitattributes` on
 * the way to the paths, in a repository without configuration: so every version of git answers, and no driver is known that could run.
 */
export async function readAttributes(deps: Pick<Deps, 'git'>, input: Input): Promise<Map<string, Attributes>> {
  const files = attributeFiles(input);
  const own = readOwn(join(input.source, 'info', 'attributes'));
  if (input.paths.length === 0 || (files.length === 0 && own === undefined)) return new Map();
  const folder = await mkdtemp(join(input.shadow, 'tmp_attributes-'));
  try {
    makeRepository(folder, own);
    const options = {
      env: { GIT_INDEX_FILE: join(folder, 'index'), GIT_OBJECT_DIRECTORY: join(input.shadow, 'objects') },
      maxBytes: 1024 * 1024 * 1024,
    };
    const rows = files.map(({ path, oid }) => `100644 ${oid}\t${path}\0`).join('');
    const index = [`--git-dir=${folder}`, 'update-index', '-z', '--index-info'];
    await deps.git.run(index, { ...options, input: Buffer.from(rows, 'latin1') });
    const check = [`--git-dir=${folder}`, 'check-attr', '--cached', '--stdin', '-z', ...asked];
    const paths = Buffer.from(input.paths.map((path) => `${path}\0`).join(''), 'latin1');
    const { stdout } = await deps.git.run(check, { ...options, input: paths });
    return parse(stdout.toString('latin1'));
  } finally {
    await removeFolder(folder);
  }
}

/** The `.gitattributes` in every folder on the way to a path. */
function attributeFiles({ root, paths }: Input): { path: string; oid: string }[] {
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
  return [...found].map(([path, oid]) => ({ path, oid }));
}

function readOwn(path: string): Buffer | undefined {
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

function makeRepository(folder: string, own: Buffer | undefined): void {
  for (const name of ['objects', 'refs', 'info']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  if (own !== undefined) writeFileSync(join(folder, 'info', 'attributes'), own);
}

/** Rows of three fields: path, attribute, value. */
function parse(output: string): Map<string, Attributes> {
  const fields = output.split('\0');
  const values = new Map<string, Map<string, string>>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', name = '', value = ''] = fields.slice(at, at + 3);
    values.set(path, (values.get(path) ?? new Map()).set(name, value));
  }
  return new Map([...values].map(([path, of]) => [path, toAttributes((name) => of.get(name) ?? 'unspecified')]));
}

/** As git's own `convert_attrs` does. */
function toAttributes(of: (name: (typeof asked)[number]) => string): Attributes {
  const lines = linesOf(of('text')) ?? linesOf(of('crlf'));
  const hasEol = ['lf', 'crlf'].includes(of('eol'));
  const encoding = driver(of('working-tree-encoding'));
  return {
    lines: lines ?? (hasEol ? 'text' : 'as they are'),
    ident: of('ident') === 'set',
    filter: driver(of('filter')),
    encoding: /^utf-?8$/i.test(encoding ?? 'utf-8') ? undefined : encoding,
  };
}

function linesOf(value: string): Attributes['lines'] | undefined {
  if (value === 'set' || value === 'input') return 'text';
  if (value === 'unset') return 'as they are';
  return value === 'auto' ? 'auto' : undefined;
}

const driver = (value: string): string | undefined =>
  ['unspecified', 'unset', 'set', ''].includes(value) ? undefined : value;
