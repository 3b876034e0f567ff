import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../deps.ts';
import { openOwned } from '../../source/git/plain-config.ts';
import type { Repository } from '../../source/git/repository.ts';

export interface FoundRef {
  oid: string;
  /** The target of a symbolic ref; else empty. */
  symref: string;
}

type Owned = Pick<Repository, 'common' | 'as' | 'remote'>;

/** A longer file of packed refs is left to git. Bytes. */
const largest = 16 * 1024 * 1024;
/** More folders below a branch's name are left to git. */
const mostFolders = 1000;

/**
 * A branch with the refs around its name, read in this process, which starts no program: `a` and `a/b` are around each other. Undefined where
 * git has to answer: symbolic refs, refs in tables, damaged files, and files that the user of git may not read.
 *
 * Files of single refs are read before the packed refs: git packs a ref before it deletes the file, so a ref is in one of them.
 */
export function readPlainRefs(
  { common, as, remote }: Owned,
  branch: string,
): ReadonlyMap<string, FoundRef> | undefined {
  if (remote !== undefined || existsSync(join(common, 'reftable'))) return undefined;
  const read = (name: string): string | undefined => {
    using file = openOwned(join(common, name), as);
    return file === undefined || file.bytes > largest ? undefined : readFileSync(file.fd, 'latin1');
  };
  try {
    const loose = looseAround(common, branch);
    const found = new Map(loose.map((name) => [name, oidOf(read(name))]));
    const packed = statOf(join(common, 'packed-refs')) && (read('packed-refs') ?? unclear());
    for (const [name, oid] of packedAround(packed ?? '', branch)) if (!found.has(name)) found.set(name, oid);
    return new Map([...found].map(([name, oid]) => [name, { oid, symref: '' }]));
  } catch (error) {
    if (error instanceof Unclear || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}

/** Thrown where git has to answer. */
class Unclear extends Error {}
const unclear = (): never => {
  throw new Unclear();
};

/** Refs with a file of their own: above the branch, the branch itself, and the first ref below. */
function looseAround(common: string, branch: string): string[] {
  const parts = branch.split('/');
  for (let depth = 3; depth <= parts.length; depth++) {
    const name = parts.slice(0, depth).join('/');
    const status = statOf(join(common, name));
    if (status === undefined) return [];
    if (!status.isDirectory()) return [name];
  }
  return firstBelow(common, branch);
}

/** Folders of deleted branches stay behind empty. */
function firstBelow(common: string, folder: string): string[] {
  const folders = [folder];
  for (let looked = 0; folders.length > 0; looked++) {
    if (looked === mostFolders) unclear();
    const at = folders.pop() ?? '';
    for (const entry of readdirSync(join(common, at), { withFileTypes: true })) {
      if (entry.isDirectory()) folders.push(`${at}/${entry.name}`);
      else if (isRef(entry)) return [`${at}/${entry.name}`];
    }
  }
  return [];
}

const isRef = ({ name }: Dirent): boolean => !name.endsWith('.lock');

/** @returns undefined for a path that does not exist */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const oidOf = (text: string | undefined): string => /^([0-9a-f]{40})\n$/.exec(text ?? '')?.[1] ?? unclear();

/** Rows of packed refs have the id of an object, a space and a name. */
function* packedAround(text: string, branch: string): Generator<[name: string, oid: string]> {
  const wanted = Buffer.from(branch, 'utf8').toString('latin1');
  const parts = wanted.split('/');
  const above = parts.slice(3).map((_, at) => `${parts.slice(0, at + 3).join('/')}\n`);
  for (const end of [...above, `${wanted}\n`, `${wanted}/`]) {
    const at = text.indexOf(` ${end}`);
    if (at < 0) continue;
    const begin = text.lastIndexOf('\n', at) + 1;
    const name = text.slice(at + 1, text.indexOf('\n', at));
    yield [Buffer.from(name, 'latin1').toString('utf8'), oidOf(`${text.slice(begin, at)}\n`)];
  }
}
